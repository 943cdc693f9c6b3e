-- A download scheduler's ledger: slots (one run of a schedule) and their cells, deliveries and their outbox, the event log and its cursors.
-- Times: DATETIME columns hold text `YYYY-MM-DD HH:MM:SS` in UTC; INTEGER times (ts, *_at, lease_until, next_attempt_at) are ms since 1970.
-- No foreign keys are declared; the application keeps its tables together itself.

CREATE TABLE schedule_slots (
  id TEXT PRIMARY KEY,
  schedule_id TEXT NOT NULL,
  occurrence_at INTEGER,
  occurrence_date TEXT NOT NULL DEFAULT '',
  occurrence_label TEXT NOT NULL DEFAULT '',
  timezone TEXT NOT NULL DEFAULT 'UTC',
  target_ids TEXT,
  status TEXT NOT NULL DEFAULT 'pending',        -- pending, running, success, partial, failed, expired
  trigger_source TEXT,                           -- cron, http, manual, catchup
  slot_date TEXT NOT NULL DEFAULT '',
  slot_name TEXT NOT NULL DEFAULT '',
  lease_owner TEXT,
  lease_until INTEGER,
  heartbeat_at INTEGER,
  manual_request_id TEXT,
  correlation_id TEXT,
  recovery_request_id TEXT,
  recovery_mode TEXT,
  params_json TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  started_at DATETIME,
  completed_at DATETIME,
  last_error TEXT
);

CREATE TABLE schedule_slot_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slot_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  work_id TEXT,
  work_type TEXT,
  status TEXT NOT NULL DEFAULT 'pending',        -- pending, selected, artifact_ready, delivery_pending, submitted, no_candidate, duplicate, failed
  attempt_count INTEGER NOT NULL DEFAULT 0,
  fallback_stage INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  terminal_reason_code TEXT,
  terminal_reason_message TEXT,
  candidate_report TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  updated_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  completed_at DATETIME,
  UNIQUE (slot_id, target_id)
);

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  delivery_target TEXT NOT NULL,
  work_type TEXT NOT NULL,
  pixiv_id TEXT NOT NULL,
  slot_id TEXT,
  target_id TEXT,
  idempotency_key TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'pending',        -- pending, delivered, duplicate, failed
  remote_id TEXT,
  remote_status TEXT,
  reuse_reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  created_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  updated_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  delivered_at DATETIME
);

CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,                            -- delivery, notification, event_callback
  idempotency_key TEXT,
  delivery_id TEXT,
  delivery_target TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',        -- pending, processing, retry_wait, done, dead, cancelled
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 12,
  next_attempt_at INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
);

CREATE TABLE delivery_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ts INTEGER NOT NULL,
  delivery_id TEXT,
  outbox_id TEXT,
  execution_id TEXT,
  slot_id TEXT,
  pixiv_id TEXT,
  delivery_target TEXT,
  event TEXT NOT NULL,
  error_class TEXT,
  retryable INTEGER,
  counts_as_attempt INTEGER NOT NULL DEFAULT 0,
  actor TEXT,
  detail TEXT
);

CREATE TABLE job_event_cursors (
  job_id TEXT PRIMARY KEY,
  acked_at INTEGER NOT NULL,
  acked_row_id INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE INDEX idx_slots_schedule_occ ON schedule_slots (schedule_id, occurrence_at DESC);
CREATE INDEX idx_slots_lease ON schedule_slots (lease_until);
CREATE UNIQUE INDEX idx_slots_manual_request ON schedule_slots (manual_request_id) WHERE manual_request_id IS NOT NULL;
CREATE INDEX idx_slot_items_slot ON schedule_slot_items (slot_id);
CREATE INDEX idx_slot_items_work ON schedule_slot_items (work_id, work_type);
CREATE INDEX idx_deliveries_dedupe ON deliveries (delivery_target, work_type, pixiv_id, status);
CREATE UNIQUE INDEX idx_outbox_key ON outbox (kind, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX idx_outbox_due ON outbox (status, next_attempt_at);
CREATE INDEX idx_outbox_delivery ON outbox (delivery_id);
CREATE INDEX idx_delivery_events_execution ON delivery_events (execution_id);
CREATE INDEX idx_delivery_events_outbox ON delivery_events (outbox_id);
CREATE INDEX idx_delivery_events_ts ON delivery_events (ts);
CREATE INDEX idx_delivery_events_slot_event ON delivery_events (slot_id, event);
