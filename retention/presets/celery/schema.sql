-- Celery's SQLAlchemy result backend: a row for each task, and one for each group of tasks.
-- date_done is UTC text with six digits of fraction, and NULL while the work is unfinished.

CREATE TABLE celery_taskmeta (
  id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  task_id VARCHAR(155) UNIQUE,
  status VARCHAR(50),
  result BLOB,
  date_done DATETIME,
  traceback TEXT,
  children BLOB,
  name VARCHAR(155),
  args BLOB,
  kwargs BLOB,
  worker VARCHAR(155),
  retries INTEGER,
  queue VARCHAR(155),
  stamps BLOB
);

CREATE TABLE celery_tasksetmeta (
  id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  taskset_id VARCHAR(155) UNIQUE,
  result BLOB,
  date_done DATETIME
);

CREATE INDEX ix_celery_taskmeta_date_done ON celery_taskmeta (date_done);

CREATE INDEX ix_celery_tasksetmeta_date_done ON celery_tasksetmeta (date_done);
