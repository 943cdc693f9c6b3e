-- A message relay: workspaces (tenants), agents and the nodes they run on, channels, messages, deliveries, logs.
-- Times are unix seconds unless the name says otherwise; JSON is TEXT; ids are TEXT. Message and log ids are decimal snowflakes.
-- Tables first, then indexes, then triggers, so that a bulk load may stop after the tables.

-- Tenants -----------------------------------------------------------------------------------------------------------

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  api_key_hash TEXT NOT NULL UNIQUE,
  system_prompt TEXT,
  plan TEXT NOT NULL DEFAULT 'free',
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  metadata TEXT DEFAULT '{}',
  retention TEXT,
  expires_at INTEGER,
  provenance TEXT,
  usage_classification TEXT NOT NULL DEFAULT 'unknown',
  classification_source TEXT NOT NULL DEFAULT 'unclassified',
  classification_reason TEXT,
  classified_at INTEGER,
  CONSTRAINT workspaces_usage_classification_source_check CHECK (
    CASE usage_classification
      WHEN 'unknown' THEN classification_source = 'unclassified'
      WHEN 'internal' THEN classification_source IN ('creator', 'operator')
      WHEN 'external' THEN classification_source IN ('creator', 'operator')
      ELSE 0
    END)
);

-- No key to workspaces: a binding outlives the workspace that it made.
CREATE TABLE workspace_create_idempotency (
  owner_scope_hash TEXT NOT NULL,
  idempotency_key_hash TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  workspace_id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'terminalized')),
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  terminalized_at INTEGER,
  PRIMARY KEY (owner_scope_hash, idempotency_key_hash)
);

CREATE TABLE usage_records (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  period_start INTEGER NOT NULL,
  period_end INTEGER NOT NULL,
  messages_sent INTEGER NOT NULL DEFAULT 0,
  api_calls INTEGER NOT NULL DEFAULT 0,
  files_uploaded INTEGER NOT NULL DEFAULT 0,
  file_bytes INTEGER NOT NULL DEFAULT 0,
  ws_minutes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE observer_tokens (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  token_hash TEXT NOT NULL UNIQUE,
  scopes TEXT NOT NULL DEFAULT '[]',
  filters TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'active',
  expires_at INTEGER,
  created_by TEXT,
  created_by_type TEXT NOT NULL DEFAULT 'workspace',
  last_used_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER,
  revoked_at INTEGER
);

CREATE TABLE routing_configs (
  workspace_id TEXT PRIMARY KEY NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  weights TEXT NOT NULL DEFAULT '{}',
  circuit_breaker_threshold INTEGER NOT NULL DEFAULT 3,
  circuit_breaker_cooldown_seconds INTEGER NOT NULL DEFAULT 300,
  updated_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE certifications (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_url TEXT NOT NULL,
  level INTEGER NOT NULL,
  source TEXT NOT NULL DEFAULT 'manual',
  status TEXT NOT NULL DEFAULT 'pending',
  passed INTEGER NOT NULL DEFAULT 0,
  passed_tests INTEGER NOT NULL DEFAULT 0,
  total_tests INTEGER NOT NULL DEFAULT 0,
  monitor_enabled INTEGER NOT NULL DEFAULT 0,
  monitor_interval_minutes INTEGER NOT NULL DEFAULT 60,
  last_run_at INTEGER,
  results TEXT DEFAULT '[]',
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER NOT NULL DEFAULT (unixepoch())
);

-- Agents and nodes --------------------------------------------------------------------------------------------------

CREATE TABLE nodes (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  machine_id TEXT,
  kind TEXT NOT NULL DEFAULT 'ws',
  role TEXT NOT NULL DEFAULT 'broker',
  delivery_adapter TEXT NOT NULL DEFAULT 'ws.node.v1',
  delivery_config TEXT,
  capabilities TEXT NOT NULL DEFAULT '[]',
  max_agents INTEGER NOT NULL DEFAULT 0,
  active_agents INTEGER NOT NULL DEFAULT 0,
  reserved_agents INTEGER NOT NULL DEFAULT 0,
  tags TEXT NOT NULL DEFAULT '[]',
  version TEXT NOT NULL DEFAULT 'unknown',
  status TEXT NOT NULL DEFAULT 'offline',
  handlers_live INTEGER NOT NULL DEFAULT 0,
  load REAL NOT NULL DEFAULT 0,
  load_reported INTEGER NOT NULL DEFAULT 0,
  last_heartbeat_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE node_providers (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  capabilities TEXT NOT NULL DEFAULT '[]',
  max_agents INTEGER NOT NULL DEFAULT 0,
  active_agents INTEGER NOT NULL DEFAULT 0,
  load REAL NOT NULL DEFAULT 0,
  load_reported INTEGER NOT NULL DEFAULT 0,
  handlers_live INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'offline',
  version TEXT NOT NULL DEFAULT 'unknown',
  last_heartbeat_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE agents (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL DEFAULT 'agent',
  token_hash TEXT NOT NULL UNIQUE,
  previous_token_hash TEXT,
  previous_token_expires_at INTEGER,
  status TEXT NOT NULL DEFAULT 'active',
  handle TEXT,
  persona TEXT,
  metadata TEXT DEFAULT '{}',
  capabilities TEXT,
  location_type TEXT NOT NULL DEFAULT 'self_connected',
  location_node_id TEXT REFERENCES nodes (id) ON DELETE SET NULL,
  provider_name TEXT NOT NULL DEFAULT 'default',
  resumable INTEGER NOT NULL DEFAULT 0,
  session_ref TEXT,
  origin_node_id TEXT REFERENCES nodes (id) ON DELETE SET NULL,
  delivery_ack_seq INTEGER NOT NULL DEFAULT 0,
  delivery_seq INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  last_seen INTEGER NOT NULL DEFAULT (unixepoch()),
  status_updated_at INTEGER
);

CREATE TABLE agent_node_bindings (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  status TEXT NOT NULL DEFAULT 'active',
  session_ref TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER,
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id, node_id) REFERENCES nodes (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE agent_recovery_credentials (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  proof_kind TEXT NOT NULL,
  verifier_hash TEXT NOT NULL,
  work_unit_id TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER NOT NULL DEFAULT (unixepoch()),
  FOREIGN KEY (workspace_id, agent_id) REFERENCES agents (workspace_id, id) ON DELETE CASCADE
);

-- No key to agents: the audit outlives them.
CREATE TABLE agent_identity_audit (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  agent_name TEXT NOT NULL,
  action TEXT NOT NULL,
  authority TEXT NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  session_ref TEXT,
  node_id TEXT,
  origin_actor TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE session_events (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  payload TEXT NOT NULL DEFAULT '{}',
  idempotency_key_hash TEXT,
  request_digest TEXT,
  sequence INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  status_applied_at INTEGER,
  status_legacy_pending INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE routing_failures (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  total_failures INTEGER NOT NULL DEFAULT 0,
  total_successes INTEGER NOT NULL DEFAULT 0,
  last_failure_at INTEGER,
  last_success_at INTEGER,
  circuit_open_until INTEGER,
  last_error TEXT,
  updated_at INTEGER NOT NULL DEFAULT (unixepoch()),
  PRIMARY KEY (workspace_id, agent_id)
);

CREATE TABLE directory_agents (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  source_agent_id TEXT REFERENCES agents (id) ON DELETE SET NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  provider TEXT,
  endpoint_url TEXT,
  documentation_url TEXT,
  version TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  capabilities TEXT NOT NULL DEFAULT '{}',
  metadata TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'active',
  rating_sum INTEGER NOT NULL DEFAULT 0,
  rating_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE directory_skills (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  directory_agent_id TEXT NOT NULL REFERENCES directory_agents (id) ON DELETE CASCADE,
  skill_id TEXT,
  name TEXT NOT NULL,
  description TEXT,
  tags TEXT NOT NULL DEFAULT '[]',
  metadata TEXT NOT NULL DEFAULT '{}',
  position INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE directory_ratings (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  directory_agent_id TEXT NOT NULL REFERENCES directory_agents (id) ON DELETE CASCADE,
  rater_agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  score INTEGER NOT NULL,
  review TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER NOT NULL DEFAULT (unixepoch())
);

-- Channels and messages ---------------------------------------------------------------------------------------------

CREATE TABLE channels (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  channel_type INTEGER NOT NULL DEFAULT 0,
  topic TEXT,
  metadata TEXT DEFAULT '{}',
  created_by TEXT REFERENCES agents (id),
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  is_archived INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE channel_members (
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  role TEXT NOT NULL DEFAULT 'member',
  joined_at INTEGER NOT NULL DEFAULT (unixepoch()),
  last_read_id TEXT,
  is_muted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (channel_id, agent_id)
);

CREATE TABLE dm_conversations (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  dm_type TEXT NOT NULL DEFAULT '1:1',
  name TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE dm_conversation_reservations (
  conversation_id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  participant_one_id TEXT NOT NULL,
  participant_two_id TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  CONSTRAINT dm_conversation_reservations_sorted_pair_check CHECK (participant_one_id <= participant_two_id)
);

CREATE TABLE dm_participants (
  conversation_id TEXT NOT NULL REFERENCES dm_conversations (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  joined_at INTEGER NOT NULL DEFAULT (unixepoch()),
  left_at INTEGER,
  PRIMARY KEY (conversation_id, agent_id)
);

-- The key to the thread's first message is NO ACTION: a reply must go before what it answers.
CREATE TABLE messages (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  thread_id TEXT REFERENCES messages (id),
  body TEXT NOT NULL,
  blocks TEXT,
  metadata TEXT DEFAULT '{}',
  session_ref TEXT,
  has_attachments INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER
);

-- Full-text index over messages; it holds no text of its own and is kept in step by the triggers below.
CREATE VIRTUAL TABLE messages_fts USING fts5(id UNINDEXED, body, content = messages, content_rowid = rowid);

-- Evidence that a session existed; outlives its messages.
CREATE TABLE message_sessions (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  session_ref TEXT NOT NULL,
  first_message_at INTEGER NOT NULL,
  last_message_at INTEGER NOT NULL,
  start_is_known INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (workspace_id, session_ref)
);

CREATE TABLE message_logs (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  conversation_id TEXT,
  delivery_kind TEXT NOT NULL,
  body TEXT NOT NULL,
  content_type TEXT,
  metadata TEXT DEFAULT '{}',
  attachment_count INTEGER NOT NULL DEFAULT 0,
  mention_count INTEGER NOT NULL DEFAULT 0,
  latency_ms INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE reactions (
  id TEXT PRIMARY KEY NOT NULL,
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  emoji TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE read_receipts (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  read_at INTEGER NOT NULL DEFAULT (unixepoch()),
  PRIMARY KEY (message_id, agent_id)
);

CREATE TABLE files (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  uploaded_by TEXT NOT NULL REFERENCES agents (id),
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  storage_key TEXT NOT NULL,
  upload_expires_at INTEGER,
  status TEXT NOT NULL DEFAULT 'pending',
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE message_attachments (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  file_id TEXT NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  position INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (message_id, file_id)
);

-- Objects to delete from external storage; outlives the file's row and its workspace.
CREATE TABLE file_cleanup_queue (
  storage_key TEXT PRIMARY KEY NOT NULL,
  delete_after INTEGER NOT NULL,
  process_after INTEGER NOT NULL DEFAULT (unixepoch()),
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

-- No key to messages: the answer to a repeated request outlives the message.
CREATE TABLE direct_dm_idempotency (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  idempotency_key_hash TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  message_id TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  PRIMARY KEY (workspace_id, agent_id, idempotency_key_hash)
);

-- Deliveries --------------------------------------------------------------------------------------------------------

-- queued and delivered are active; acked, failed and dead_lettered are settled.
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  mode TEXT NOT NULL DEFAULT 'immediate',
  reason TEXT,
  priority TEXT NOT NULL DEFAULT 'normal',
  deadline INTEGER,
  status TEXT NOT NULL DEFAULT 'queued',
  seq INTEGER NOT NULL DEFAULT 0,
  location_type TEXT NOT NULL DEFAULT 'self_connected',
  location_node_id TEXT REFERENCES nodes (id) ON DELETE SET NULL,
  route_node_id TEXT REFERENCES nodes (id) ON DELETE SET NULL,
  route_node_kind TEXT,
  route_node_role TEXT,
  delivery_adapter TEXT,
  dispatch_attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER,
  last_dispatch_error TEXT,
  expires_at INTEGER,
  delivered_at INTEGER,
  acked_at INTEGER,
  dead_lettered_at INTEGER,
  retryable INTEGER,
  available_at INTEGER,
  error TEXT,
  idempotency_key TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER
);

-- Federation --------------------------------------------------------------------------------------------------------

CREATE TABLE a2a_agents (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  relay_agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  agent_card TEXT NOT NULL DEFAULT '{}',
  external_url TEXT NOT NULL,
  auth_scheme TEXT,
  auth_credential TEXT,
  status TEXT NOT NULL DEFAULT 'active',
  messages_sent INTEGER NOT NULL DEFAULT 0,
  messages_recv INTEGER NOT NULL DEFAULT 0,
  last_health INTEGER,
  health_failures INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER NOT NULL DEFAULT (unixepoch())
);

-- No key to messages: the intent outlives the message, so that a repeat can be refused.
CREATE TABLE a2a_egress (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE a2a_egress_context (
  id TEXT PRIMARY KEY NOT NULL REFERENCES a2a_egress (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  response TEXT NOT NULL
);

CREATE TABLE a2a_inbound (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  message_id TEXT REFERENCES messages (id) ON DELETE SET NULL,
  fingerprint TEXT NOT NULL,
  response TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

-- Webhooks, actions, events -----------------------------------------------------------------------------------------

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  created_by TEXT REFERENCES agents (id),
  token_hash TEXT,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE event_subscriptions (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  events TEXT NOT NULL,
  filter TEXT,
  url TEXT NOT NULL,
  headers TEXT,
  secret TEXT,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE actions (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  handler_agent_id TEXT REFERENCES agents (id) ON DELETE CASCADE,
  handler_node_id TEXT REFERENCES nodes (id) ON DELETE CASCADE,
  handler_provider TEXT,
  is_global INTEGER NOT NULL DEFAULT 0,
  queue INTEGER NOT NULL DEFAULT 0,
  input_schema TEXT DEFAULT '{}',
  output_schema TEXT DEFAULT '{}',
  available_to TEXT,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL DEFAULT (unixepoch())
);

CREATE TABLE action_invocations (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  action_id TEXT REFERENCES actions (id) ON DELETE SET NULL,
  action_name TEXT NOT NULL,
  caller_id TEXT REFERENCES agents (id) ON DELETE SET NULL,
  caller_name TEXT,
  handler_agent_id TEXT,
  handler_node_id TEXT,
  input TEXT DEFAULT '{}',
  output TEXT,
  status TEXT NOT NULL DEFAULT 'pending',
  error TEXT,
  duration_ms INTEGER,
  dispatched_node_id TEXT REFERENCES nodes (id) ON DELETE SET NULL,
  dispatched_at INTEGER,
  spawn_reserved_at INTEGER,
  attempted_node_ids TEXT NOT NULL DEFAULT '[]',
  dispatch_attempts INTEGER NOT NULL DEFAULT 0,
  dispatched_provider TEXT,
  retry_after_at INTEGER,
  handler_unreachable_since INTEGER,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  completed_at INTEGER
);

CREATE TABLE triggers (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  channel TEXT,
  pattern TEXT,
  mention INTEGER,
  action_name TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  last_triggered_at INTEGER,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  updated_at INTEGER
);

CREATE TABLE pending_events (
  id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  event_type TEXT NOT NULL,
  payload TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 5,
  last_error TEXT,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  process_after INTEGER NOT NULL DEFAULT (unixepoch()),
  completed_at INTEGER
);

-- No key to workspaces: events are written whatever happens to the workspace. seq counts up from 1 in each.
CREATE TABLE workspace_events (
  workspace_id TEXT NOT NULL,
  seq INTEGER NOT NULL CHECK (seq > 0),
  type TEXT NOT NULL,
  channel_id TEXT,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (unixepoch()),
  PRIMARY KEY (workspace_id, seq)
);

CREATE TABLE maintenance_cursors (
  id TEXT PRIMARY KEY NOT NULL,
  cursor TEXT NOT NULL
);

-- Indexes -----------------------------------------------------------------------------------------------------------

CREATE INDEX idx_workspaces_expires_at ON workspaces (expires_at);
CREATE INDEX idx_usage_workspace_period ON usage_records (workspace_id, period_start);
CREATE UNIQUE INDEX observer_tokens_workspace_name_unique ON observer_tokens (workspace_id, name);
CREATE INDEX idx_observer_tokens_workspace_status ON observer_tokens (workspace_id, status);
CREATE INDEX idx_observer_tokens_expires_at ON observer_tokens (expires_at);
CREATE INDEX idx_routing_configs_updated_at ON routing_configs (updated_at);
CREATE INDEX idx_certifications_workspace ON certifications (workspace_id, created_at);
CREATE INDEX idx_certifications_agent_url ON certifications (agent_url);
CREATE INDEX idx_certifications_monitor_enabled ON certifications (monitor_enabled, updated_at);

CREATE UNIQUE INDEX nodes_workspace_name_unique ON nodes (workspace_id, name);
CREATE UNIQUE INDEX nodes_workspace_id_unique ON nodes (workspace_id, id);
CREATE INDEX idx_nodes_token ON nodes (token_hash);
CREATE INDEX idx_nodes_status ON nodes (workspace_id, status);
CREATE UNIQUE INDEX node_providers_node_name_unique ON node_providers (workspace_id, node_id, name);
CREATE INDEX idx_node_providers_node ON node_providers (node_id);

CREATE UNIQUE INDEX agents_workspace_name_unique ON agents (workspace_id, name);
CREATE UNIQUE INDEX agents_workspace_id_unique ON agents (workspace_id, id);
CREATE INDEX idx_agents_token ON agents (token_hash);
CREATE INDEX idx_agents_previous_token ON agents (previous_token_hash);
CREATE INDEX idx_agents_active_last_seen ON agents (last_seen) WHERE status IN ('active', 'online');
CREATE INDEX idx_agents_roster ON agents (workspace_id, created_at, id) WHERE status <> 'released';
CREATE INDEX idx_agents_location_node ON agents (location_node_id) WHERE location_node_id IS NOT NULL;
CREATE INDEX idx_agents_origin_node ON agents (origin_node_id) WHERE origin_node_id IS NOT NULL;
CREATE UNIQUE INDEX agent_node_bindings_agent_node_unique ON agent_node_bindings (agent_id, node_id);
CREATE INDEX idx_agent_node_bindings_workspace ON agent_node_bindings (workspace_id, status);
CREATE INDEX idx_agent_node_bindings_agent ON agent_node_bindings (workspace_id, agent_id, status);
CREATE INDEX idx_agent_node_bindings_node ON agent_node_bindings (workspace_id, node_id, status);
CREATE INDEX idx_agent_node_bindings_node_id ON agent_node_bindings (node_id);
CREATE UNIQUE INDEX agent_recovery_credentials_agent_unique ON agent_recovery_credentials (workspace_id, agent_id);
CREATE UNIQUE INDEX agent_recovery_credentials_verifier_unique ON agent_recovery_credentials (verifier_hash);
CREATE INDEX idx_agent_identity_audit_workspace ON agent_identity_audit (workspace_id, created_at);
CREATE INDEX idx_agent_identity_audit_agent ON agent_identity_audit (workspace_id, agent_id, created_at);
CREATE UNIQUE INDEX session_events_agent_sequence_unique ON session_events (agent_id, sequence);
CREATE UNIQUE INDEX session_events_idempotency_unique ON session_events (workspace_id, agent_id, idempotency_key_hash);
CREATE INDEX idx_session_events_agent ON session_events (agent_id, created_at);
CREATE INDEX idx_session_events_workspace ON session_events (workspace_id, created_at);
CREATE INDEX idx_session_events_type ON session_events (workspace_id, type, created_at);
CREATE INDEX idx_routing_failures_workspace ON routing_failures (workspace_id, updated_at);
CREATE INDEX idx_routing_failures_circuit ON routing_failures (workspace_id, circuit_open_until);
CREATE INDEX idx_routing_failures_agent ON routing_failures (agent_id);
CREATE UNIQUE INDEX directory_agents_workspace_slug_unique ON directory_agents (workspace_id, slug);
CREATE INDEX idx_directory_agents_workspace ON directory_agents (workspace_id, created_at);
CREATE INDEX idx_directory_agents_source_agent ON directory_agents (source_agent_id);
CREATE INDEX idx_directory_agents_status ON directory_agents (workspace_id, status);
CREATE INDEX idx_directory_skills_agent ON directory_skills (directory_agent_id, position);
CREATE INDEX idx_directory_skills_workspace ON directory_skills (workspace_id);
CREATE UNIQUE INDEX directory_ratings_agent_rater_unique ON directory_ratings (directory_agent_id, rater_agent_id);
CREATE INDEX idx_directory_ratings_workspace ON directory_ratings (workspace_id, created_at);
CREATE INDEX idx_directory_ratings_directory_agent ON directory_ratings (directory_agent_id, created_at);
CREATE INDEX idx_directory_ratings_rater ON directory_ratings (rater_agent_id);

CREATE UNIQUE INDEX channels_workspace_name_unique ON channels (workspace_id, name);
CREATE INDEX idx_channels_creator ON channels (created_by);
CREATE INDEX idx_channel_members_agent ON channel_members (agent_id);
CREATE INDEX idx_dm_conversations_workspace ON dm_conversations (workspace_id);
CREATE INDEX idx_dm_conversations_channel ON dm_conversations (channel_id);
CREATE UNIQUE INDEX dm_conversation_reservations_pair_unique
  ON dm_conversation_reservations (workspace_id, participant_one_id, participant_two_id);
CREATE INDEX idx_dm_participants_agent ON dm_participants (agent_id);

CREATE INDEX idx_messages_channel_time ON messages (channel_id, id);
CREATE INDEX idx_messages_thread ON messages (thread_id, id);
CREATE INDEX idx_messages_workspace ON messages (workspace_id, id);
CREATE INDEX idx_messages_agent ON messages (agent_id);
CREATE INDEX idx_messages_retention ON messages (length(id), id);
CREATE INDEX idx_messages_workspace_length_id ON messages (workspace_id, length(id), id);
CREATE INDEX idx_messages_workspace_session ON messages (workspace_id, session_ref, length(id), id);
CREATE INDEX idx_message_sessions_workspace_last ON message_sessions (workspace_id, last_message_at);
CREATE UNIQUE INDEX message_logs_message_unique ON message_logs (message_id);
CREATE INDEX idx_message_logs_workspace_time ON message_logs (workspace_id, id);
CREATE INDEX idx_message_logs_agent_time ON message_logs (agent_id, id);
CREATE INDEX idx_message_logs_channel_time ON message_logs (channel_id, id);
CREATE INDEX idx_message_logs_conversation_time ON message_logs (conversation_id, id);
CREATE INDEX idx_message_logs_retention ON message_logs (length(id), id);
CREATE UNIQUE INDEX reactions_message_agent_emoji_unique ON reactions (message_id, agent_id, emoji);
CREATE INDEX idx_reactions_message ON reactions (message_id);
CREATE INDEX idx_reactions_agent ON reactions (agent_id);
CREATE INDEX idx_read_receipts_agent ON read_receipts (agent_id, read_at);
CREATE UNIQUE INDEX idx_read_receipts_retention ON read_receipts (message_id, agent_id);
CREATE INDEX idx_files_workspace ON files (workspace_id, created_at);
CREATE INDEX idx_files_uploader ON files (uploaded_by);
CREATE INDEX idx_message_attachments_file ON message_attachments (file_id);
CREATE INDEX idx_file_cleanup_due ON file_cleanup_queue (process_after, storage_key);

CREATE UNIQUE INDEX deliveries_message_agent_unique ON deliveries (message_id, agent_id);
CREATE UNIQUE INDEX deliveries_agent_seq_unique ON deliveries (workspace_id, agent_id, seq);
CREATE UNIQUE INDEX idx_deliveries_id_lookup ON deliveries (id);
CREATE INDEX idx_deliveries_agent ON deliveries (agent_id, created_at);
CREATE INDEX idx_deliveries_agent_status_seq ON deliveries (workspace_id, agent_id, status, seq);
CREATE INDEX idx_deliveries_agent_active_seq ON deliveries (workspace_id, agent_id, seq)
  WHERE status IN ('queued', 'delivered');
CREATE INDEX idx_deliveries_agent_active_expiry ON deliveries (workspace_id, agent_id, expires_at)
  WHERE status IN ('queued', 'delivered');
CREATE INDEX idx_deliveries_agent_active_created ON deliveries (workspace_id, agent_id, created_at, id)
  WHERE status IN ('queued', 'delivered');
CREATE INDEX idx_deliveries_expires ON deliveries (workspace_id, status, expires_at);
CREATE INDEX idx_deliveries_status ON deliveries (workspace_id, status, created_at);
CREATE INDEX idx_deliveries_active_expiry ON deliveries (expires_at, id)
  WHERE status IN ('queued', 'delivered') AND expires_at IS NOT NULL;
CREATE INDEX idx_deliveries_settled_retention ON deliveries (created_at, id)
  WHERE status IN ('acked', 'failed', 'dead_lettered');
CREATE INDEX idx_deliveries_retry_due ON deliveries (status, next_attempt_at, created_at, id)
  WHERE next_attempt_at IS NOT NULL;
CREATE INDEX idx_deliveries_node_initial ON deliveries (route_node_id, created_at, id)
  WHERE status = 'queued' AND next_attempt_at IS NULL;
CREATE INDEX idx_deliveries_node_retry ON deliveries (route_node_id, next_attempt_at, id)
  WHERE status = 'queued' AND next_attempt_at IS NOT NULL;
CREATE INDEX idx_deliveries_node_initial_workspace ON deliveries (workspace_id, route_node_id, created_at, id)
  WHERE status = 'queued' AND next_attempt_at IS NULL;
CREATE INDEX idx_deliveries_node_retry_workspace ON deliveries (workspace_id, route_node_id, next_attempt_at, id)
  WHERE status = 'queued' AND next_attempt_at IS NOT NULL;
CREATE INDEX idx_deliveries_location_node ON deliveries (location_node_id) WHERE location_node_id IS NOT NULL;
CREATE INDEX idx_deliveries_route_node ON deliveries (route_node_id) WHERE route_node_id IS NOT NULL;

CREATE INDEX idx_a2a_agents_workspace ON a2a_agents (workspace_id);
CREATE UNIQUE INDEX idx_a2a_agents_relay_agent ON a2a_agents (relay_agent_id);
CREATE INDEX idx_a2a_egress_workspace ON a2a_egress (workspace_id);
CREATE INDEX idx_a2a_egress_context_message ON a2a_egress_context (message_id);
CREATE INDEX idx_a2a_inbound_workspace ON a2a_inbound (workspace_id);
CREATE INDEX idx_a2a_inbound_message ON a2a_inbound (message_id);
CREATE INDEX idx_a2a_inbound_retention ON a2a_inbound (created_at, id);

CREATE UNIQUE INDEX webhooks_workspace_name_unique ON webhooks (workspace_id, name);
CREATE INDEX idx_webhooks_channel ON webhooks (channel_id);
CREATE INDEX idx_webhooks_creator ON webhooks (created_by);
CREATE INDEX idx_webhooks_token ON webhooks (token_hash);
CREATE INDEX idx_event_subscriptions_workspace ON event_subscriptions (workspace_id);
CREATE UNIQUE INDEX actions_workspace_node_name_unique ON actions (workspace_id, handler_node_id, name);
CREATE UNIQUE INDEX actions_workspace_agent_name_unique ON actions (workspace_id, name) WHERE handler_node_id IS NULL;
CREATE UNIQUE INDEX actions_workspace_global_name_unique ON actions (workspace_id, name) WHERE is_global = 1;
CREATE INDEX idx_actions_handler ON actions (handler_agent_id);
CREATE INDEX idx_actions_node_handler ON actions (handler_node_id);
CREATE INDEX idx_action_invocations_workspace ON action_invocations (workspace_id, created_at);
CREATE INDEX idx_action_invocations_action ON action_invocations (action_id, created_at);
CREATE INDEX idx_action_invocations_caller ON action_invocations (caller_id, created_at);
CREATE INDEX idx_action_invocations_dispatched_node ON action_invocations (dispatched_node_id, created_at);
CREATE INDEX idx_action_invocations_pending_workspace ON action_invocations (workspace_id, created_at) WHERE status = 'pending';
CREATE INDEX idx_triggers_enabled ON triggers (workspace_id, enabled);
CREATE INDEX idx_triggers_action ON triggers (workspace_id, action_name);
CREATE INDEX idx_pending_events_status ON pending_events (status, process_after);
CREATE INDEX idx_pending_events_workspace ON pending_events (workspace_id);

CREATE INDEX idx_workspace_events_created ON workspace_events (workspace_id, created_at);
CREATE INDEX idx_workspace_events_retention ON workspace_events (created_at, workspace_id, seq);

-- Triggers ----------------------------------------------------------------------------------------------------------

CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts (rowid, id, body) VALUES (new.rowid, new.id, new.body);
END;

CREATE TRIGGER messages_fts_update AFTER UPDATE OF body ON messages BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, id, body) VALUES ('delete', old.rowid, old.id, old.body);
  INSERT INTO messages_fts (rowid, id, body) VALUES (new.rowid, new.id, new.body);
END;

CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, id, body) VALUES ('delete', old.rowid, old.id, old.body);
END;

-- The record that a remote message came in stays; its content goes with the message.
CREATE TRIGGER a2a_inbound_source_prune BEFORE DELETE ON messages BEGIN
  UPDATE a2a_inbound SET response = NULL WHERE message_id = old.id;
END;

CREATE TRIGGER agents_status_reconciliation_timestamp AFTER UPDATE OF status, last_seen ON agents BEGIN
  UPDATE agents SET status_updated_at = unixepoch() WHERE id = new.id;
END;

CREATE TRIGGER files_cleanup_after_delete AFTER DELETE ON files BEGIN
  INSERT INTO file_cleanup_queue (storage_key, delete_after)
  VALUES (old.storage_key, MAX(unixepoch(), COALESCE(old.upload_expires_at, 0)))
  ON CONFLICT (storage_key) DO NOTHING;
END;
