-- event delivery_events, table delivery_events, walk rowid: events are read in the order of their ids

-- high-water, 0 bound
SELECT typeof("delivery_events"."id"), CASE typeof("delivery_events"."id") WHEN 'integer' THEN CAST("delivery_events"."id" AS TEXT) WHEN 'text' THEN hex('aa' || "delivery_events"."id") WHEN 'blob' THEN hex("delivery_events"."id") ELSE "delivery_events"."id" END FROM "delivery_events" NOT INDEXED ORDER BY "delivery_events"."id" DESC LIMIT 1;
--   SCAN delivery_events

-- boundary, 5 bound
SELECT n, gone, old, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "delivery_events"."id" AS k0, CASE WHEN "delivery_events"."ts" < CAST(?1 AS INTEGER) THEN ("delivery_events"."ts" < CAST(?2 AS INTEGER) AND "delivery_events"."event" NOT IN (SELECT value FROM json_each(?3))) IS 1 END AS v FROM "delivery_events" NOT INDEXED WHERE "delivery_events"."id" > +CAST(?4 AS INTEGER) AND "delivery_events"."id" <= +CAST(?5 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH delivery_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       LIST SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- stopped consumers, 11 bound
WITH RECURSIVE retention_names(name) AS (SELECT ''), retention_consumers(name, quiet) AS MATERIALIZED (SELECT retention_n.name, NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" >= CAST(?1 AS INTEGER)) AND NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" IS NULL) FROM retention_names AS retention_n) INSERT INTO "delivery_events" ("slot_id", "event", "ts", "detail") SELECT 'consumer:' || retention_c.name, ?9, MAX(CAST(?10 AS INTEGER), COALESCE(CAST((SELECT MAX(retention_t."ts") FROM "delivery_events" AS retention_t WHERE retention_t."slot_id" = 'consumer:' || retention_c.name AND typeof(retention_t."ts") IN ('integer', 'real')) AS INTEGER), CAST(?10 AS INTEGER))), json_object('consumer', retention_c.name, 'stopped_after_ms', CAST(?11 AS INTEGER)) FROM retention_consumers AS retention_c WHERE retention_c.quiet AND EXISTS (SELECT 1 FROM "delivery_events" NOT INDEXED LEFT JOIN "job_event_cursors" AS retention_k ON retention_k."job_id" = "delivery_events"."slot_id" AND 1 WHERE "delivery_events"."id" > CAST(?3 AS INTEGER) AND "delivery_events"."id" <= CAST(?2 AS INTEGER) AND ("delivery_events"."ts" < CAST(?4 AS INTEGER) AND "delivery_events"."event" NOT IN (SELECT value FROM json_each(?5)) AND ("delivery_events"."event" IN (SELECT value FROM json_each(?6))) IS 1 AND "delivery_events"."slot_id" IS NOT NULL AND NOT (typeof(retention_k."acked_row_id") = 'integer' AND retention_k."acked_row_id" >= "delivery_events"."id") AND (retention_c.quiet AND "delivery_events"."ts" < CAST(?7 AS INTEGER))) IS 1) AND NOT EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = 'consumer:' || retention_c.name AND retention_s."event" = ?8 AND (retention_s."ts") > COALESCE((SELECT (MAX(retention_m."updated_at")) FROM "job_event_cursors" AS retention_m WHERE 1), -1)) RETURNING "slot_id";
--   MATERIALIZE retention_consumers
--     CO-ROUTINE retention_names
--       SCAN CONSTANT ROW
--     SCAN retention_n
--     SCALAR SUBQUERY 2
--       SCAN retention_m
--     SCALAR SUBQUERY 3
--       SCAN retention_m
--   SCAN retention_c
--   CORRELATED SCALAR SUBQUERY 8
--     SEARCH delivery_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?) LEFT-JOIN
--     LIST SUBQUERY 6
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--     LIST SUBQUERY 7
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--   CORRELATED SCALAR SUBQUERY 10
--     SEARCH retention_s USING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--     SCALAR SUBQUERY 9
--       SEARCH retention_m
--   CORRELATED SCALAR SUBQUERY 5
--     SEARCH retention_t USING INDEX idx_delivery_events_slot_event (slot_id=?)

-- delete, 7 bound
WITH RECURSIVE retention_names(name) AS (SELECT ''), retention_consumers(name, quiet) AS MATERIALIZED (SELECT retention_n.name, NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" >= CAST(?1 AS INTEGER)) AND NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" IS NULL) FROM retention_names AS retention_n) DELETE FROM "delivery_events" NOT INDEXED WHERE "delivery_events"."id" > CAST(?7 AS INTEGER) AND "delivery_events"."id" <= CAST(?6 AS INTEGER) AND ("delivery_events"."ts" < CAST(?4 AS INTEGER) AND "delivery_events"."event" NOT IN (SELECT value FROM json_each(?5)) AND NOT (("delivery_events"."event" IN (SELECT value FROM json_each(?3))) IS 1 AND "delivery_events"."slot_id" IS NOT NULL AND EXISTS (SELECT 1 FROM retention_consumers AS retention_c LEFT JOIN "job_event_cursors" AS retention_k ON retention_k."job_id" = "delivery_events"."slot_id" AND 1 WHERE CASE WHEN (typeof(retention_k."acked_row_id") = 'integer' AND retention_k."acked_row_id" >= "delivery_events"."id") THEN retention_k."acked_row_id" = "delivery_events"."id" ELSE NOT (retention_c.quiet AND "delivery_events"."ts" < CAST(?2 AS INTEGER)) END))) IS 1;
--   SEARCH delivery_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   LIST SUBQUERY 5
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   LIST SUBQUERY 6
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   CORRELATED SCALAR SUBQUERY 7
--     MATERIALIZE retention_consumers
--       CO-ROUTINE retention_names
--         SCAN CONSTANT ROW
--       SCAN retention_n
--       SCALAR SUBQUERY 2
--         SCAN retention_m
--       SCALAR SUBQUERY 3
--         SCAN retention_m
--     SCAN retention_c
--     SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?) LEFT-JOIN

