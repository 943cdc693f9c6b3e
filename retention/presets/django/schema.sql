-- Django's session table, and those of the packages that the policy names. Times are UTC text.
-- Columns that refer to users and applications are left as plain numbers, so that the schema stands alone.

CREATE TABLE django_session (
  session_key VARCHAR(40) NOT NULL PRIMARY KEY,
  session_data TEXT NOT NULL,
  expire_date DATETIME NOT NULL
);

CREATE INDEX django_session_expire_date ON django_session (expire_date);

-- django-celery-results

CREATE TABLE django_celery_results_taskresult (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  task_id VARCHAR(255) NOT NULL UNIQUE,
  status VARCHAR(50) NOT NULL,
  content_type VARCHAR(128) NOT NULL,
  content_encoding VARCHAR(64) NOT NULL,
  result TEXT,
  date_done DATETIME NOT NULL,
  traceback TEXT,
  meta TEXT,
  task_args TEXT,
  task_kwargs TEXT,
  task_name VARCHAR(255),
  date_created DATETIME NOT NULL,
  worker VARCHAR(100),
  periodic_task_name VARCHAR(255),
  date_started DATETIME
);

CREATE INDEX django_celery_results_taskresult_date_done ON django_celery_results_taskresult (date_done);

CREATE TABLE django_celery_results_groupresult (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  group_id VARCHAR(255) NOT NULL UNIQUE,
  date_created DATETIME NOT NULL,
  date_done DATETIME NOT NULL,
  content_type VARCHAR(128) NOT NULL,
  content_encoding VARCHAR(64) NOT NULL,
  result TEXT
);

CREATE INDEX django_celery_results_groupresult_date_done ON django_celery_results_groupresult (date_done);

-- django-axes

CREATE TABLE axes_accesslog (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  user_agent VARCHAR(255) NOT NULL,
  ip_address CHAR(39),
  username VARCHAR(255),
  http_accept VARCHAR(1025) NOT NULL,
  path_info VARCHAR(255) NOT NULL,
  attempt_time DATETIME NOT NULL,
  logout_time DATETIME,
  session_hash VARCHAR(64) NOT NULL
);

CREATE TABLE axes_accessfailurelog (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  user_agent VARCHAR(255) NOT NULL,
  ip_address CHAR(39),
  username VARCHAR(255),
  http_accept VARCHAR(1025) NOT NULL,
  path_info VARCHAR(255) NOT NULL,
  attempt_time DATETIME NOT NULL,
  locked_out BOOL NOT NULL
);

-- djangorestframework-simplejwt

CREATE TABLE token_blacklist_outstandingtoken (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL,
  created_at DATETIME,
  expires_at DATETIME NOT NULL,
  user_id INTEGER,
  jti VARCHAR(255) NOT NULL UNIQUE
);

CREATE TABLE token_blacklist_blacklistedtoken (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  blacklisted_at DATETIME NOT NULL,
  token_id BIGINT NOT NULL UNIQUE REFERENCES token_blacklist_outstandingtoken (id) DEFERRABLE INITIALLY DEFERRED
);

-- django-oauth-toolkit: access and refresh tokens refer to each other

CREATE TABLE oauth2_provider_idtoken (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  jti CHAR(32) NOT NULL UNIQUE,
  expires DATETIME NOT NULL,
  scope TEXT NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  application_id BIGINT,
  user_id INTEGER
);

CREATE TABLE oauth2_provider_accesstoken (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL,
  token_checksum VARCHAR(64) NOT NULL UNIQUE,
  expires DATETIME NOT NULL,
  scope TEXT NOT NULL,
  application_id BIGINT,
  user_id INTEGER,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  source_refresh_token_id BIGINT UNIQUE REFERENCES oauth2_provider_refreshtoken (id) DEFERRABLE INITIALLY DEFERRED,
  id_token_id BIGINT UNIQUE REFERENCES oauth2_provider_idtoken (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE oauth2_provider_refreshtoken (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL,
  token_checksum VARCHAR(64) NOT NULL,
  access_token_id BIGINT UNIQUE REFERENCES oauth2_provider_accesstoken (id) DEFERRABLE INITIALLY DEFERRED,
  application_id BIGINT NOT NULL,
  user_id INTEGER NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  revoked DATETIME,
  token_family CHAR(32)
);

CREATE TABLE oauth2_provider_grant (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  code VARCHAR(255) NOT NULL UNIQUE,
  expires DATETIME NOT NULL,
  redirect_uri TEXT NOT NULL,
  scope TEXT NOT NULL,
  application_id BIGINT NOT NULL,
  user_id INTEGER NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  code_challenge VARCHAR(128) NOT NULL,
  code_challenge_method VARCHAR(10) NOT NULL,
  nonce VARCHAR(255) NOT NULL,
  claims TEXT NOT NULL
);
