-- rule messages, table messages, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("messages"."rowid"), CASE typeof("messages"."rowid") WHEN 'integer' THEN CAST("messages"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "messages"."rowid") WHEN 'blob' THEN hex("messages"."rowid") ELSE "messages"."rowid" END FROM "messages" NOT INDEXED ORDER BY "messages"."rowid" DESC LIMIT 1;
--   SCAN messages

-- boundary, 4 bound
SELECT n, gone, old, unreadable, malformed, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN 0 ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +((min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22)) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" > +CAST(?3 AS INTEGER) AND "messages"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-7)
--     CO-ROUTINE (subquery-6)
--       SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--         CORRELATED SCALAR SUBQUERY 2
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       CORRELATED SCALAR SUBQUERY 4
--         SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-6)
--   SCAN (subquery-7)

-- delete, 4 bound
DELETE FROM "messages" NOT INDEXED WHERE "messages"."rowid" > +CAST(?3 AS INTEGER) AND "messages"."rowid" <= +CAST(?4 AS INTEGER) AND (CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN 0 ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +((min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22)) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 2
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--   CORRELATED SCALAR SUBQUERY 4
--     SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 5
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SEARCH a2a_inbound USING COVERING INDEX idx_a2a_inbound_message (message_id=?)
--   SEARCH a2a_egress_context USING COVERING INDEX idx_a2a_egress_context_message (message_id=?)
--   SEARCH deliveries USING COVERING INDEX deliveries_message_agent_unique (message_id=?)
--   SEARCH message_attachments USING COVERING INDEX sqlite_autoindex_message_attachments_1 (message_id=?)
--   SEARCH read_receipts USING COVERING INDEX idx_read_receipts_retention (message_id=?)
--   SEARCH reactions USING COVERING INDEX idx_reactions_message (message_id=?)
--   SEARCH message_logs USING COVERING INDEX message_logs_message_unique (message_id=?)
--   SEARCH messages USING COVERING INDEX idx_messages_thread (thread_id=?)

-- first boundary, 3 bound
SELECT n, gone, old, unreadable, malformed, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN 0 ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +((min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22)) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-7)
--     CO-ROUTINE (subquery-6)
--       SEARCH messages USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--         CORRELATED SCALAR SUBQUERY 2
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       CORRELATED SCALAR SUBQUERY 4
--         SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-6)
--   SCAN (subquery-7)

-- rule messages, table messages, range, at most 1,000 tenants mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("messages"."rowid"), CASE typeof("messages"."rowid") WHEN 'integer' THEN CAST("messages"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "messages"."rowid") WHEN 'blob' THEN hex("messages"."rowid") ELSE "messages"."rowid" END FROM "messages" NOT INDEXED ORDER BY "messages"."rowid" DESC LIMIT 1;
--   SCAN messages

-- boundary, 4 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN -9e999 ELSE (min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22) END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT n, gone, old, unreadable, malformed, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" > +CAST(?3 AS INTEGER) AND "messages"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-8)
--     CO-ROUTINE (subquery-7)
--       SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 4
--         MATERIALIZE retention_keeps
--           SCAN workspaces
--           CORRELATED SCALAR SUBQUERY 1
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--         BLOOM FILTER ON retention_keeps (tenant=?)
--         SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 6
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-7)
--   SCAN (subquery-8)

-- delete, 4 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN -9e999 ELSE (min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22) END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE x'' END END AS cut FROM "workspaces") DELETE FROM "messages" NOT INDEXED WHERE "messages"."rowid" > +CAST(?3 AS INTEGER) AND "messages"."rowid" <= +CAST(?4 AS INTEGER) AND (CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 4
--     MATERIALIZE retention_keeps
--       SCAN workspaces
--       CORRELATED SCALAR SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--     BLOOM FILTER ON retention_keeps (tenant=?)
--     SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--   CORRELATED SCALAR SUBQUERY 5
--     SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 6
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SEARCH a2a_inbound USING COVERING INDEX idx_a2a_inbound_message (message_id=?)
--   SEARCH a2a_egress_context USING COVERING INDEX idx_a2a_egress_context_message (message_id=?)
--   SEARCH deliveries USING COVERING INDEX deliveries_message_agent_unique (message_id=?)
--   SEARCH message_attachments USING COVERING INDEX sqlite_autoindex_message_attachments_1 (message_id=?)
--   SEARCH read_receipts USING COVERING INDEX idx_read_receipts_retention (message_id=?)
--   SEARCH reactions USING COVERING INDEX idx_reactions_message (message_id=?)
--   SEARCH message_logs USING COVERING INDEX message_logs_message_unique (message_id=?)
--   SEARCH messages USING COVERING INDEX idx_messages_thread (thread_id=?)

-- first boundary, 3 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN -9e999 ELSE (min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22) END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT n, gone, old, unreadable, malformed, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-8)
--     CO-ROUTINE (subquery-7)
--       SEARCH messages USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 3
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 4
--         MATERIALIZE retention_keeps
--           SCAN workspaces
--           CORRELATED SCALAR SUBQUERY 1
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--         BLOOM FILTER ON retention_keeps (tenant=?)
--         SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--       CORRELATED SCALAR SUBQUERY 5
--         SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--       CORRELATED SCALAR SUBQUERY 6
--         SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-7)
--   SCAN (subquery-8)

-- rule messages, table messages, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("messages"."rowid"), CASE typeof("messages"."rowid") WHEN 'integer' THEN CAST("messages"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "messages"."rowid") WHEN 'blob' THEN hex("messages"."rowid") ELSE "messages"."rowid" END FROM "messages" NOT INDEXED ORDER BY "messages"."rowid" DESC LIMIT 1;
--   SCAN messages

-- rows, 4 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN 0 ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +((min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22)) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, (CASE typeof("messages"."id") WHEN 'text' THEN 't' || hex("messages"."id") ELSE quote("messages"."id") END || ',' || CASE typeof("messages"."workspace_id") WHEN 'text' THEN 't' || hex("messages"."workspace_id") ELSE quote("messages"."workspace_id") END) AS g, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" > +CAST(?3 AS INTEGER) AND "messages"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY "messages"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-6)
--     SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     CORRELATED SCALAR SUBQUERY 1
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 3
--       SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--       CORRELATED SCALAR SUBQUERY 2
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--     CORRELATED SCALAR SUBQUERY 4
--       SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 5
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SCAN (subquery-6)

-- delete, 3 bound
DELETE FROM "messages" NOT INDEXED WHERE "messages"."rowid" IN (SELECT "q"."rowid" FROM json_each(?3) AS j CROSS JOIN "messages" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."id") WHEN 'text' THEN 't' || hex("q"."id") ELSE quote("q"."id") END || ',' || CASE typeof("q"."workspace_id") WHEN 'text' THEN 't' || hex("q"."workspace_id") ELSE quote("q"."workspace_id") END) IS j.value) AND (CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN 0 ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +((min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22)) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 4
--     SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 3
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--   CORRELATED SCALAR SUBQUERY 5
--     SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 6
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SEARCH a2a_inbound USING COVERING INDEX idx_a2a_inbound_message (message_id=?)
--   SEARCH a2a_egress_context USING COVERING INDEX idx_a2a_egress_context_message (message_id=?)
--   SEARCH deliveries USING COVERING INDEX deliveries_message_agent_unique (message_id=?)
--   SEARCH message_attachments USING COVERING INDEX sqlite_autoindex_message_attachments_1 (message_id=?)
--   SEARCH read_receipts USING COVERING INDEX idx_read_receipts_retention (message_id=?)
--   SEARCH reactions USING COVERING INDEX idx_reactions_message (message_id=?)
--   SEARCH message_logs USING COVERING INDEX message_logs_message_unique (message_id=?)
--   SEARCH messages USING COVERING INDEX idx_messages_thread (thread_id=?)

-- first rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN 0 ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +((min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22)) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, (CASE typeof("messages"."id") WHEN 'text' THEN 't' || hex("messages"."id") ELSE quote("messages"."id") END || ',' || CASE typeof("messages"."workspace_id") WHEN 'text' THEN 't' || hex("messages"."workspace_id") ELSE quote("messages"."workspace_id") END) AS g, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "messages"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-6)
--     SEARCH messages USING INTEGER PRIMARY KEY (rowid<?)
--     CORRELATED SCALAR SUBQUERY 1
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 3
--       SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--       CORRELATED SCALAR SUBQUERY 2
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--     CORRELATED SCALAR SUBQUERY 4
--       SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 5
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SCAN (subquery-6)

-- rule messages, table messages, chunk, at most 1,000 tenants mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("messages"."rowid"), CASE typeof("messages"."rowid") WHEN 'integer' THEN CAST("messages"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "messages"."rowid") WHEN 'blob' THEN hex("messages"."rowid") ELSE "messages"."rowid" END FROM "messages" NOT INDEXED ORDER BY "messages"."rowid" DESC LIMIT 1;
--   SCAN messages

-- rows, 4 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN -9e999 ELSE (min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22) END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, (CASE typeof("messages"."id") WHEN 'text' THEN 't' || hex("messages"."id") ELSE quote("messages"."id") END || ',' || CASE typeof("messages"."workspace_id") WHEN 'text' THEN 't' || hex("messages"."workspace_id") ELSE quote("messages"."workspace_id") END) AS g, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" > +CAST(?3 AS INTEGER) AND "messages"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY "messages"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-7)
--     SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     CORRELATED SCALAR SUBQUERY 3
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 4
--       MATERIALIZE retention_keeps
--         SCAN workspaces
--         CORRELATED SCALAR SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       BLOOM FILTER ON retention_keeps (tenant=?)
--       SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--     CORRELATED SCALAR SUBQUERY 5
--       SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 6
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SCAN (subquery-7)

-- delete, 3 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN -9e999 ELSE (min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22) END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE x'' END END AS cut FROM "workspaces") DELETE FROM "messages" NOT INDEXED WHERE "messages"."rowid" IN (SELECT "q"."rowid" FROM json_each(?3) AS j CROSS JOIN "messages" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."id") WHEN 'text' THEN 't' || hex("q"."id") ELSE quote("q"."id") END || ',' || CASE typeof("q"."workspace_id") WHEN 'text' THEN 't' || hex("q"."workspace_id") ELSE quote("q"."workspace_id") END) IS j.value) AND (CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 3
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 4
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 5
--     MATERIALIZE retention_keeps
--       SCAN workspaces
--       CORRELATED SCALAR SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--     BLOOM FILTER ON retention_keeps (tenant=?)
--     SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--   CORRELATED SCALAR SUBQUERY 6
--     SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--   CORRELATED SCALAR SUBQUERY 7
--     SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SEARCH a2a_inbound USING COVERING INDEX idx_a2a_inbound_message (message_id=?)
--   SEARCH a2a_egress_context USING COVERING INDEX idx_a2a_egress_context_message (message_id=?)
--   SEARCH deliveries USING COVERING INDEX deliveries_message_agent_unique (message_id=?)
--   SEARCH message_attachments USING COVERING INDEX sqlite_autoindex_message_attachments_1 (message_id=?)
--   SEARCH read_receipts USING COVERING INDEX idx_read_receipts_retention (message_id=?)
--   SEARCH reactions USING COVERING INDEX idx_reactions_message (message_id=?)
--   SEARCH message_logs USING COVERING INDEX message_logs_message_unique (message_id=?)
--   SEARCH messages USING COVERING INDEX idx_messages_thread (thread_id=?)

-- first rows, 3 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?2 AS INTEGER) THEN -9e999 ELSE (min(max(0, (CAST(CAST(?2 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) - 1735689600000), 2199023255551) << 22) END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'message_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "messages"."rowid" AS k0, CASE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN CASE coalesce((SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE CASE typeof("messages"."id") WHEN 'integer' THEN CASE WHEN "messages"."id" >= 0 THEN "messages"."id" END WHEN 'text' THEN CASE WHEN "messages"."id" NOT GLOB '*[^0-9]*' AND "messages"."id" NOT GLOB '0?*' AND length("messages"."id") BETWEEN 1 AND 19 AND instr("messages"."id", char(0)) = 0 AND (length("messages"."id") < 19 OR "messages"."id" <= '9223372036854775807') THEN CAST("messages"."id" AS INTEGER) END END < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "messages"."workspace_id"), 0) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "messages" AS "retention_child" WHERE "messages"."id" = "retention_child"."thread_id" AND NOT ("retention_child"."rowid" IS "messages"."rowid")) THEN 'referenced' ELSE 1 END ELSE 'malformed' END ELSE 0 END ELSE CASE WHEN (NOT EXISTS (SELECT 1 FROM messages AS reply WHERE reply.thread_id = messages.id)) THEN 'unreadable' ELSE 0 END END AS v, (CASE typeof("messages"."id") WHEN 'text' THEN 't' || hex("messages"."id") ELSE quote("messages"."id") END || ',' || CASE typeof("messages"."workspace_id") WHEN 'text' THEN 't' || hex("messages"."workspace_id") ELSE quote("messages"."workspace_id") END) AS g, "messages"."workspace_id" AS tenant FROM "messages" NOT INDEXED WHERE "messages"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "messages"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-7)
--     SEARCH messages USING INTEGER PRIMARY KEY (rowid<?)
--     CORRELATED SCALAR SUBQUERY 3
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 4
--       MATERIALIZE retention_keeps
--         SCAN workspaces
--         CORRELATED SCALAR SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       BLOOM FILTER ON retention_keeps (tenant=?)
--       SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--     CORRELATED SCALAR SUBQUERY 5
--       SEARCH retention_child USING COVERING INDEX idx_messages_thread (thread_id=?)
--     CORRELATED SCALAR SUBQUERY 6
--       SEARCH reply USING COVERING INDEX idx_messages_thread (thread_id=?)
--   SCAN (subquery-7)

