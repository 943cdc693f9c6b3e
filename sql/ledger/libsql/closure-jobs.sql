-- closure jobs, table schedule_slots, walk rowid: the table's own order

-- high-water, 0 bound
SELECT typeof("schedule_slots"."rowid"), CASE typeof("schedule_slots"."rowid") WHEN 'integer' THEN CAST("schedule_slots"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "schedule_slots"."rowid") WHEN 'blob' THEN hex("schedule_slots"."rowid") ELSE "schedule_slots"."rowid" END FROM "schedule_slots" NOT INDEXED ORDER BY "schedule_slots"."rowid" DESC LIMIT 1;
--   SCAN schedule_slots

-- boundary, 11 bound
SELECT n, gone, old, undated, unreadable, leased, held, open, unread, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'leased') AS leased, count(*) FILTER (WHERE v IS 'held') AS held, count(*) FILTER (WHERE v IS 'open') AS open, count(*) FILTER (WHERE v IS 'unread') AS unread, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "schedule_slots"."rowid" AS k0, CASE WHEN CASE WHEN (status IN ('success', 'partial', 'failed', 'expired')) THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."completed_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."completed_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."completed_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."completed_at", 1, 19) AND (substr("schedule_slots"."completed_at", 20) = '' OR (substr("schedule_slots"."completed_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."completed_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."completed_at", char(0)) = 0 THEN "schedule_slots"."completed_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."completed_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."completed_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."completed_at", 21), 4), '0') <> '')) END WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END < CAST(?9 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?1 AS INTEGER) IS 0 THEN 'leased' WHEN "schedule_slots"."lease_until" IS NOT NULL AND CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?1 AS INTEGER) IS NULL THEN 'unreadable' WHEN EXISTS (SELECT 1 FROM "outbox" WHERE (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') AND CASE WHEN (status IN ('pending', 'processing', 'retry_wait')) THEN 1 ELSE 0 END) THEN 'open' WHEN EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE (schedule_slot_items.slot_id = schedule_slots.id) AND CASE WHEN (status NOT IN ('submitted', 'no_candidate', 'duplicate', 'failed')) THEN 1 ELSE 0 END) THEN 'open' WHEN ((EXISTS (WITH RECURSIVE retention_names(name) AS (SELECT ''), retention_consumers(name, quiet) AS MATERIALIZED (SELECT retention_n.name, NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" >= CAST(?2 AS INTEGER)) AND NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" IS NULL) FROM retention_names AS retention_n) SELECT 1 FROM "delivery_events" CROSS JOIN retention_consumers AS retention_c LEFT JOIN "job_event_cursors" AS retention_k ON retention_k."job_id" = "delivery_events"."slot_id" AND 1 WHERE "delivery_events"."slot_id" = "schedule_slots"."id" AND ("delivery_events"."event" IN (SELECT value FROM json_each(?3))) IS 1 AND (NOT (typeof(retention_k."acked_row_id") = 'integer' AND retention_k."acked_row_id" >= "delivery_events"."id") AND NOT (retention_c.quiet AND "delivery_events"."ts" < CAST(?4 AS INTEGER))) IS NOT 0) OR EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_k WHERE retention_k."job_id" = "schedule_slots"."id" AND retention_k."updated_at" >= CAST(?5 AS INTEGER))) OR (EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = "schedule_slots"."id" AND retention_s."event" = ?7 AND NULLIF(CASE WHEN json_valid(retention_s."detail") THEN retention_s."detail" ->> ?6 END, '') IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = "schedule_slots"."id" AND retention_s."event" IN (SELECT value FROM json_each(?8))))) THEN 'unread' ELSE 1 END ELSE CASE WHEN ("schedule_slots"."completed_at" IS NOT NULL OR "schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END AS v FROM "schedule_slots" NOT INDEXED WHERE "schedule_slots"."rowid" > +CAST(?10 AS INTEGER) AND "schedule_slots"."rowid" <= +CAST(?11 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-14)
--     CO-ROUTINE (subquery-13)
--       SEARCH schedule_slots USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH outbox USING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)
--       CORRELATED SCALAR SUBQUERY 2
--         SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--       CORRELATED SCALAR SUBQUERY 8
--         MATERIALIZE retention_consumers
--           CO-ROUTINE retention_names
--             SCAN CONSTANT ROW
--           SCAN retention_n
--           SCALAR SUBQUERY 4
--             SCAN retention_m
--           SCALAR SUBQUERY 5
--             SCAN retention_m
--         SEARCH delivery_events USING INDEX idx_delivery_events_slot_event (slot_id=?)
--         LIST SUBQUERY 7
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--           CREATE BLOOM FILTER
--         SCAN retention_c
--         SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?) LEFT-JOIN
--       CORRELATED SCALAR SUBQUERY 9
--         SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)
--       CORRELATED SCALAR SUBQUERY 10
--         SEARCH retention_s USING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--       CORRELATED SCALAR SUBQUERY 12
--         SEARCH retention_s USING COVERING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--         LIST SUBQUERY 11
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCAN (subquery-13)
--   SCAN (subquery-14)

-- due rows, 11 bound
SELECT typeof("schedule_slots"."rowid"), CASE typeof("schedule_slots"."rowid") WHEN 'integer' THEN CAST("schedule_slots"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "schedule_slots"."rowid") WHEN 'blob' THEN hex("schedule_slots"."rowid") ELSE "schedule_slots"."rowid" END, typeof("schedule_slots"."id"), CASE typeof("schedule_slots"."id") WHEN 'integer' THEN CAST("schedule_slots"."id" AS TEXT) WHEN 'text' THEN hex('aa' || "schedule_slots"."id") WHEN 'blob' THEN hex("schedule_slots"."id") ELSE "schedule_slots"."id" END, 1 + (SELECT count(*) FROM (SELECT 1 FROM "outbox" WHERE (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') LIMIT 10000)) + (SELECT count(*) FROM (SELECT 1 FROM "schedule_slot_items" WHERE (schedule_slot_items.slot_id = schedule_slots.id) LIMIT 10000)) + (SELECT count(*) FROM (SELECT 1 FROM "delivery_events" WHERE (delivery_events.slot_id = schedule_slots.id) LIMIT 10000)) + (SELECT count(*) FROM (SELECT 1 FROM "job_event_cursors" WHERE (job_event_cursors.job_id = schedule_slots.id) LIMIT 10000)) FROM "schedule_slots" NOT INDEXED WHERE "schedule_slots"."rowid" > +CAST(?10 AS INTEGER) AND "schedule_slots"."rowid" <= +CAST(?11 AS INTEGER) AND (CASE WHEN CASE WHEN (status IN ('success', 'partial', 'failed', 'expired')) THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."completed_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."completed_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."completed_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."completed_at", 1, 19) AND (substr("schedule_slots"."completed_at", 20) = '' OR (substr("schedule_slots"."completed_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."completed_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."completed_at", char(0)) = 0 THEN "schedule_slots"."completed_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."completed_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."completed_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."completed_at", 21), 4), '0') <> '')) END WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END < CAST(?9 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?1 AS INTEGER) IS 0 THEN 'leased' WHEN "schedule_slots"."lease_until" IS NOT NULL AND CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?1 AS INTEGER) IS NULL THEN 'unreadable' WHEN EXISTS (SELECT 1 FROM "outbox" WHERE (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') AND CASE WHEN (status IN ('pending', 'processing', 'retry_wait')) THEN 1 ELSE 0 END) THEN 'open' WHEN EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE (schedule_slot_items.slot_id = schedule_slots.id) AND CASE WHEN (status NOT IN ('submitted', 'no_candidate', 'duplicate', 'failed')) THEN 1 ELSE 0 END) THEN 'open' WHEN ((EXISTS (WITH RECURSIVE retention_names(name) AS (SELECT ''), retention_consumers(name, quiet) AS MATERIALIZED (SELECT retention_n.name, NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" >= CAST(?2 AS INTEGER)) AND NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" IS NULL) FROM retention_names AS retention_n) SELECT 1 FROM "delivery_events" CROSS JOIN retention_consumers AS retention_c LEFT JOIN "job_event_cursors" AS retention_k ON retention_k."job_id" = "delivery_events"."slot_id" AND 1 WHERE "delivery_events"."slot_id" = "schedule_slots"."id" AND ("delivery_events"."event" IN (SELECT value FROM json_each(?3))) IS 1 AND (NOT (typeof(retention_k."acked_row_id") = 'integer' AND retention_k."acked_row_id" >= "delivery_events"."id") AND NOT (retention_c.quiet AND "delivery_events"."ts" < CAST(?4 AS INTEGER))) IS NOT 0) OR EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_k WHERE retention_k."job_id" = "schedule_slots"."id" AND retention_k."updated_at" >= CAST(?5 AS INTEGER))) OR (EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = "schedule_slots"."id" AND retention_s."event" = ?7 AND NULLIF(CASE WHEN json_valid(retention_s."detail") THEN retention_s."detail" ->> ?6 END, '') IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = "schedule_slots"."id" AND retention_s."event" IN (SELECT value FROM json_each(?8))))) THEN 'unread' ELSE 1 END ELSE CASE WHEN ("schedule_slots"."completed_at" IS NOT NULL OR "schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1 ORDER BY "schedule_slots"."rowid" LIMIT 50;
--   SEARCH schedule_slots USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 9
--     SEARCH outbox USING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)
--   CORRELATED SCALAR SUBQUERY 10
--     SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--   CORRELATED SCALAR SUBQUERY 16
--     MATERIALIZE retention_consumers
--       CO-ROUTINE retention_names
--         SCAN CONSTANT ROW
--       SCAN retention_n
--       SCALAR SUBQUERY 12
--         SCAN retention_m
--       SCALAR SUBQUERY 13
--         SCAN retention_m
--     SEARCH delivery_events USING INDEX idx_delivery_events_slot_event (slot_id=?)
--     LIST SUBQUERY 15
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--     SCAN retention_c
--     SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?) LEFT-JOIN
--   CORRELATED SCALAR SUBQUERY 17
--     SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)
--   CORRELATED SCALAR SUBQUERY 18
--     SEARCH retention_s USING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--   CORRELATED SCALAR SUBQUERY 20
--     SEARCH retention_s USING COVERING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--     LIST SUBQUERY 19
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--   CORRELATED SCALAR SUBQUERY 2
--     CO-ROUTINE (subquery-1)
--       SEARCH outbox USING COVERING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)
--     SCAN (subquery-1)
--   CORRELATED SCALAR SUBQUERY 4
--     CO-ROUTINE (subquery-3)
--       SEARCH schedule_slot_items USING COVERING INDEX idx_slot_items_slot (slot_id=?)
--     SCAN (subquery-3)
--   CORRELATED SCALAR SUBQUERY 6
--     CO-ROUTINE (subquery-5)
--       SEARCH delivery_events USING COVERING INDEX idx_delivery_events_slot_event (slot_id=?)
--     SCAN (subquery-5)
--   CORRELATED SCALAR SUBQUERY 8
--     CO-ROUTINE (subquery-7)
--       SEARCH job_event_cursors USING COVERING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)
--     SCAN (subquery-7)

-- fence, 10 bound
SELECT CASE WHEN (SELECT count(*) FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?10) AS j) AND (CASE WHEN CASE WHEN (status IN ('success', 'partial', 'failed', 'expired')) THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."completed_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."completed_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."completed_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."completed_at", 1, 19) AND (substr("schedule_slots"."completed_at", 20) = '' OR (substr("schedule_slots"."completed_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."completed_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."completed_at", char(0)) = 0 THEN "schedule_slots"."completed_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."completed_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."completed_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."completed_at", 21), 4), '0') <> '')) END WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END < CAST(?9 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?1 AS INTEGER) IS 0 THEN 'leased' WHEN "schedule_slots"."lease_until" IS NOT NULL AND CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?1 AS INTEGER) IS NULL THEN 'unreadable' WHEN EXISTS (SELECT 1 FROM "outbox" WHERE (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') AND CASE WHEN (status IN ('pending', 'processing', 'retry_wait')) THEN 1 ELSE 0 END) THEN 'open' WHEN EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE (schedule_slot_items.slot_id = schedule_slots.id) AND CASE WHEN (status NOT IN ('submitted', 'no_candidate', 'duplicate', 'failed')) THEN 1 ELSE 0 END) THEN 'open' WHEN ((EXISTS (WITH RECURSIVE retention_names(name) AS (SELECT ''), retention_consumers(name, quiet) AS MATERIALIZED (SELECT retention_n.name, NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" >= CAST(?2 AS INTEGER)) AND NOT EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_m WHERE 1 AND retention_m."updated_at" IS NULL) FROM retention_names AS retention_n) SELECT 1 FROM "delivery_events" CROSS JOIN retention_consumers AS retention_c LEFT JOIN "job_event_cursors" AS retention_k ON retention_k."job_id" = "delivery_events"."slot_id" AND 1 WHERE "delivery_events"."slot_id" = "schedule_slots"."id" AND ("delivery_events"."event" IN (SELECT value FROM json_each(?3))) IS 1 AND (NOT (typeof(retention_k."acked_row_id") = 'integer' AND retention_k."acked_row_id" >= "delivery_events"."id") AND NOT (retention_c.quiet AND "delivery_events"."ts" < CAST(?4 AS INTEGER))) IS NOT 0) OR EXISTS (SELECT 1 FROM "job_event_cursors" AS retention_k WHERE retention_k."job_id" = "schedule_slots"."id" AND retention_k."updated_at" >= CAST(?5 AS INTEGER))) OR (EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = "schedule_slots"."id" AND retention_s."event" = ?7 AND NULLIF(CASE WHEN json_valid(retention_s."detail") THEN retention_s."detail" ->> ?6 END, '') IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM "delivery_events" AS retention_s WHERE retention_s."slot_id" = "schedule_slots"."id" AND retention_s."event" IN (SELECT value FROM json_each(?8))))) THEN 'unread' ELSE 1 END ELSE CASE WHEN ("schedule_slots"."completed_at" IS NOT NULL OR "schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1) = json_array_length(?10) AND (SELECT coalesce(sum(1 + (SELECT count(*) FROM (SELECT 1 FROM "outbox" WHERE (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') LIMIT 10000)) + (SELECT count(*) FROM (SELECT 1 FROM "schedule_slot_items" WHERE (schedule_slot_items.slot_id = schedule_slots.id) LIMIT 10000)) + (SELECT count(*) FROM (SELECT 1 FROM "delivery_events" WHERE (delivery_events.slot_id = schedule_slots.id) LIMIT 10000)) + (SELECT count(*) FROM (SELECT 1 FROM "job_event_cursors" WHERE (job_event_cursors.job_id = schedule_slots.id) LIMIT 10000))), 0) FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?10) AS j)) <= 10000 THEN 1 ELSE json_extract('1', 'fence:closure') END;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 14
--     SEARCH schedule_slots USING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     CORRELATED SCALAR SUBQUERY 2
--       SEARCH outbox USING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)
--     CORRELATED SCALAR SUBQUERY 3
--       SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--     CORRELATED SCALAR SUBQUERY 9
--       MATERIALIZE retention_consumers
--         CO-ROUTINE retention_names
--           SCAN CONSTANT ROW
--         SCAN retention_n
--         SCALAR SUBQUERY 5
--           SCAN retention_m
--         SCALAR SUBQUERY 6
--           SCAN retention_m
--       SEARCH delivery_events USING INDEX idx_delivery_events_slot_event (slot_id=?)
--       LIST SUBQUERY 8
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--       SCAN retention_c
--       SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?) LEFT-JOIN
--     CORRELATED SCALAR SUBQUERY 10
--       SEARCH retention_k USING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)
--     CORRELATED SCALAR SUBQUERY 11
--       SEARCH retention_s USING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--     CORRELATED SCALAR SUBQUERY 13
--       SEARCH retention_s USING COVERING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--       LIST SUBQUERY 12
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--   SCALAR SUBQUERY 24
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 23
--       SCAN j VIRTUAL TABLE INDEX 1:
--     CORRELATED SCALAR SUBQUERY 16
--       CO-ROUTINE (subquery-15)
--         SEARCH outbox USING COVERING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)
--       SCAN (subquery-15)
--     CORRELATED SCALAR SUBQUERY 18
--       CO-ROUTINE (subquery-17)
--         SEARCH schedule_slot_items USING COVERING INDEX idx_slot_items_slot (slot_id=?)
--       SCAN (subquery-17)
--     CORRELATED SCALAR SUBQUERY 20
--       CO-ROUTINE (subquery-19)
--         SEARCH delivery_events USING COVERING INDEX idx_delivery_events_slot_event (slot_id=?)
--       SCAN (subquery-19)
--     CORRELATED SCALAR SUBQUERY 22
--       CO-ROUTINE (subquery-21)
--         SEARCH job_event_cursors USING COVERING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)
--       SCAN (subquery-21)

-- delete outbox, 1 bound
DELETE FROM "outbox" WHERE "outbox"."rowid" IN (SELECT "outbox"."rowid" FROM "schedule_slots" CROSS JOIN "outbox" ON (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j));
--   SEARCH outbox USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 2
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH outbox USING COVERING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)

-- delete schedule_slot_items, 1 bound
DELETE FROM "schedule_slot_items" WHERE "schedule_slot_items"."rowid" IN (SELECT "schedule_slot_items"."rowid" FROM "schedule_slots" CROSS JOIN "schedule_slot_items" ON (schedule_slot_items.slot_id = schedule_slots.id) WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j));
--   SEARCH schedule_slot_items USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 2
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH schedule_slot_items USING COVERING INDEX idx_slot_items_slot (slot_id=?)

-- delete delivery_events, 1 bound
DELETE FROM "delivery_events" WHERE "delivery_events"."rowid" IN (SELECT "delivery_events"."rowid" FROM "schedule_slots" CROSS JOIN "delivery_events" ON (delivery_events.slot_id = schedule_slots.id) WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j));
--   SEARCH delivery_events USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 2
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH delivery_events USING COVERING INDEX idx_delivery_events_slot_event (slot_id=?)

-- delete job_event_cursors, 1 bound
DELETE FROM "job_event_cursors" WHERE "job_event_cursors"."rowid" IN (SELECT "job_event_cursors"."rowid" FROM "schedule_slots" CROSS JOIN "job_event_cursors" ON (job_event_cursors.job_id = schedule_slots.id) WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j));
--   SEARCH job_event_cursors USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 2
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH job_event_cursors USING COVERING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)

-- members left, 1 bound
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM "schedule_slots" CROSS JOIN "outbox" ON (outbox.kind = 'event_callback' AND outbox.idempotency_key >= 'job-event:' || schedule_slots.id || ':evt-' AND outbox.idempotency_key < 'job-event:' || schedule_slots.id || ':evt.') WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j)) AND NOT EXISTS (SELECT 1 FROM "schedule_slots" CROSS JOIN "schedule_slot_items" ON (schedule_slot_items.slot_id = schedule_slots.id) WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j)) AND NOT EXISTS (SELECT 1 FROM "schedule_slots" CROSS JOIN "delivery_events" ON (delivery_events.slot_id = schedule_slots.id) WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j)) AND NOT EXISTS (SELECT 1 FROM "schedule_slots" CROSS JOIN "job_event_cursors" ON (job_event_cursors.job_id = schedule_slots.id) WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j)) THEN 1 ELSE json_extract('1', 'fence:left') END;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 2
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH outbox USING COVERING INDEX idx_outbox_key (kind=? AND idempotency_key>? AND idempotency_key<?)
--   SCALAR SUBQUERY 4
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 3
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH schedule_slot_items USING COVERING INDEX idx_slot_items_slot (slot_id=?)
--   SCALAR SUBQUERY 6
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 5
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH delivery_events USING COVERING INDEX idx_delivery_events_slot_event (slot_id=?)
--   SCALAR SUBQUERY 8
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 7
--       SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH job_event_cursors USING COVERING INDEX sqlite_autoindex_job_event_cursors_1 (job_id=?)

-- delete, 1 bound
DELETE FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j);
--   SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:

-- left, 1 bound
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?1) AS j)) THEN 1 ELSE json_extract('1', 'fence:left') END;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 2
--     SEARCH schedule_slots USING COVERING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:

