-- sweep queued_too_long, table schedule_slots, walk rowid: no index holds the live rows alone

-- high-water, 0 bound
SELECT typeof("schedule_slots"."rowid"), CASE typeof("schedule_slots"."rowid") WHEN 'integer' THEN CAST("schedule_slots"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "schedule_slots"."rowid") WHEN 'blob' THEN hex("schedule_slots"."rowid") ELSE "schedule_slots"."rowid" END FROM "schedule_slots" NOT INDEXED ORDER BY "schedule_slots"."rowid" DESC LIMIT 1;
--   SCAN schedule_slots

-- boundary, 5 bound
SELECT n, gone, old, undated, unreadable, skipped, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'skipped') AS skipped, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "schedule_slots"."rowid" AS k0, CASE WHEN CASE WHEN (status = 'pending') THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END <= CAST(?3 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?2 AS INTEGER) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE CASE WHEN "schedule_slots"."lease_until" IS NULL THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE 'unreadable' END END ELSE CASE WHEN ("schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END AS v FROM "schedule_slots" NOT INDEXED WHERE "schedule_slots"."rowid" > +CAST(?4 AS INTEGER) AND "schedule_slots"."rowid" <= +CAST(?5 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-4)
--     CO-ROUTINE (subquery-3)
--       SEARCH schedule_slots USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       LIST SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--       LIST SUBQUERY 2
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--         CREATE BLOOM FILTER
--     SCAN (subquery-3)
--   SCAN (subquery-4)

-- due rows, 5 bound
SELECT typeof("schedule_slots"."rowid"), CASE typeof("schedule_slots"."rowid") WHEN 'integer' THEN CAST("schedule_slots"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "schedule_slots"."rowid") WHEN 'blob' THEN hex("schedule_slots"."rowid") ELSE "schedule_slots"."rowid" END, typeof("schedule_slots"."id"), CASE typeof("schedule_slots"."id") WHEN 'integer' THEN CAST("schedule_slots"."id" AS TEXT) WHEN 'text' THEN hex('aa' || "schedule_slots"."id") WHEN 'blob' THEN hex("schedule_slots"."id") ELSE "schedule_slots"."id" END FROM "schedule_slots" NOT INDEXED WHERE "schedule_slots"."rowid" > +CAST(?4 AS INTEGER) AND "schedule_slots"."rowid" <= +CAST(?5 AS INTEGER) AND (CASE WHEN CASE WHEN (status = 'pending') THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END <= CAST(?3 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?2 AS INTEGER) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE CASE WHEN "schedule_slots"."lease_until" IS NULL THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE 'unreadable' END END ELSE CASE WHEN ("schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1 ORDER BY "schedule_slots"."rowid" LIMIT 100;
--   SEARCH schedule_slots USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   LIST SUBQUERY 1
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   LIST SUBQUERY 2
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER

-- children, 10 bound
UPDATE "schedule_slot_items" SET "status" = ?5, "terminal_reason_code" = ?6, "terminal_reason_message" = ?7, "last_error" = ?8, "updated_at" = ?9, "completed_at" = ?10 WHERE "schedule_slot_items"."slot_id" IN (SELECT "schedule_slots"."id" FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?4) AS j) AND (CASE WHEN CASE WHEN (status = 'pending') THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END <= CAST(?3 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?2 AS INTEGER) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE CASE WHEN "schedule_slots"."lease_until" IS NULL THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE 'unreadable' END END ELSE CASE WHEN ("schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1) AND CASE WHEN (status IN ('pending', 'selected')) THEN 1 ELSE 0 END;
--   SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--   LIST SUBQUERY 4
--     SEARCH schedule_slots USING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     LIST SUBQUERY 2
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--     LIST SUBQUERY 3
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER

-- event, 7 bound
INSERT INTO "delivery_events" ("slot_id", "event", "ts", "detail") SELECT "schedule_slots"."id", ?5, MAX(CAST(?6 AS INTEGER), COALESCE(CAST((SELECT MAX(retention_t."ts") FROM "delivery_events" AS retention_t WHERE retention_t."slot_id" = "schedule_slots"."id" AND typeof(retention_t."ts") IN ('integer', 'real')) AS INTEGER), CAST(?6 AS INTEGER))), ?7 FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?4) AS j) AND (CASE WHEN CASE WHEN (status = 'pending') THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END <= CAST(?3 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?2 AS INTEGER) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE CASE WHEN "schedule_slots"."lease_until" IS NULL THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE 'unreadable' END END ELSE CASE WHEN ("schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1 AND NOT EXISTS (SELECT 1 FROM "delivery_events" AS retention_e WHERE retention_e."slot_id" = "schedule_slots"."id" AND retention_e."event" = ?5);
--   SEARCH schedule_slots USING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--   LIST SUBQUERY 2
--     SCAN j VIRTUAL TABLE INDEX 1:
--   LIST SUBQUERY 3
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   LIST SUBQUERY 4
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   CORRELATED SCALAR SUBQUERY 5
--     SEARCH retention_e USING COVERING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_t USING INDEX idx_delivery_events_slot_event (slot_id=?)

-- callback, 12 bound
INSERT INTO "outbox" ("id", "kind", "idempotency_key", "delivery_target", "payload_json", "max_attempts", "next_attempt_at", "created_at", "updated_at") SELECT (lower(hex(randomblob(16)))), (?3), (?4) || (retention_e."slot_id") || (?5) || ('evt-' || (retention_e."ts") || '-' || retention_e."id"), (NULLIF(CASE WHEN json_valid(retention_s."detail") THEN retention_s."detail" ->> ?1 END, '')), (json_object('event_id', 'evt-' || (retention_e."ts") || '-' || retention_e."id", 'stream', retention_e."slot_id", 'public', ?6, 'at', (retention_e."ts"), 'target', NULLIF(CASE WHEN json_valid(retention_s."detail") THEN retention_s."detail" ->> ?1 END, ''))), CAST(?7 AS INTEGER), (CAST(?8 AS INTEGER)), (CAST(?9 AS INTEGER)), (CAST(?10 AS INTEGER)) FROM "delivery_events" AS retention_e JOIN "delivery_events" AS retention_s ON retention_s."id" = (SELECT retention_x."id" FROM "delivery_events" AS retention_x WHERE retention_x."slot_id" = retention_e."slot_id" AND retention_x."event" = ?2 ORDER BY retention_x."id" LIMIT 1) WHERE changes() > 0 AND retention_e."id" > last_insert_rowid() - changes() AND retention_e."id" <= last_insert_rowid() AND retention_e."event" = ?11 AND NULLIF(CASE WHEN json_valid(retention_s."detail") THEN retention_s."detail" ->> ?1 END, '') IS NOT NULL AND (retention_e."event" IN (SELECT value FROM json_each(?12))) IS 1;
--   SEARCH retention_e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   LIST SUBQUERY 2
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   SEARCH retention_s USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_x USING COVERING INDEX idx_delivery_events_slot_event (slot_id=? AND event=?)

-- parent, 14 bound
UPDATE "schedule_slots" SET "status" = (CASE WHEN NOT EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE "schedule_slot_items"."slot_id" = "schedule_slots"."id") THEN ?5 WHEN EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE "schedule_slot_items"."slot_id" = "schedule_slots"."id" AND "schedule_slot_items"."status" IN (SELECT value FROM json_each(?6))) THEN ?7 WHEN EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE "schedule_slot_items"."slot_id" = "schedule_slots"."id") AND NOT EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE "schedule_slot_items"."slot_id" = "schedule_slots"."id" AND ("schedule_slot_items"."status" IN (SELECT value FROM json_each(?8))) IS NOT 1) THEN ?9 WHEN EXISTS (SELECT 1 FROM "schedule_slot_items" WHERE "schedule_slot_items"."slot_id" = "schedule_slots"."id" AND "schedule_slot_items"."status" IN (SELECT value FROM json_each(?10))) THEN ?11 ELSE ?12 END), "last_error" = ?13, "completed_at" = ?14, "lease_owner" = NULL, "lease_until" = NULL WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?4) AS j) AND (CASE WHEN CASE WHEN (status = 'pending') THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END <= CAST(?3 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?2 AS INTEGER) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE CASE WHEN "schedule_slots"."lease_until" IS NULL THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE 'unreadable' END END ELSE CASE WHEN ("schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1 RETURNING 1;
--   SEARCH schedule_slots USING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--   LIST SUBQUERY 9
--     SCAN j VIRTUAL TABLE INDEX 1:
--   LIST SUBQUERY 10
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   LIST SUBQUERY 11
--     SCAN json_each VIRTUAL TABLE INDEX 1:
--     CREATE BLOOM FILTER
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH schedule_slot_items USING COVERING INDEX idx_slot_items_slot (slot_id=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--     LIST SUBQUERY 2
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--   CORRELATED SCALAR SUBQUERY 4
--     SEARCH schedule_slot_items USING COVERING INDEX idx_slot_items_slot (slot_id=?)
--   CORRELATED SCALAR SUBQUERY 6
--     SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--     LIST SUBQUERY 5
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--   CORRELATED SCALAR SUBQUERY 8
--     SEARCH schedule_slot_items USING INDEX idx_slot_items_slot (slot_id=?)
--     LIST SUBQUERY 7
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER

-- fence, 4 bound
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM "schedule_slots" WHERE "schedule_slots"."id" IN (SELECT CASE j.type WHEN 'object' THEN coalesce(unhex(json_extract(j.value, '$.blob')), CAST(unhex(json_extract(j.value, '$.text')) AS TEXT)) ELSE j.value END FROM json_each(?4) AS j) AND (CASE WHEN CASE WHEN (status = 'pending') THEN 1 ELSE 0 END = 0 THEN 0 WHEN "schedule_slots"."id" IS NULL THEN 'unreadable' ELSE CASE CASE WHEN "schedule_slots"."created_at" IS NOT NULL THEN CASE WHEN CASE WHEN typeof("schedule_slots"."created_at") = 'text' AND datetime(unixepoch(substr("schedule_slots"."created_at", 1, 19)), 'unixepoch') IS substr("schedule_slots"."created_at", 1, 19) AND (substr("schedule_slots"."created_at", 20) = '' OR (substr("schedule_slots"."created_at", 20) GLOB '.[0-9]*' AND substr(substr("schedule_slots"."created_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("schedule_slots"."created_at", char(0)) = 0 THEN "schedule_slots"."created_at" END IS NOT NULL THEN unixepoch(substr("schedule_slots"."created_at", 1, 19)) * 1000 + (CAST(substr(substr("schedule_slots"."created_at", 21) || '000', 1, 3) AS INTEGER) + (rtrim(substr(substr("schedule_slots"."created_at", 21), 4), '0') <> '')) END END <= CAST(?3 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE CASE WHEN typeof("schedule_slots"."lease_until") IN ('integer', 'real') THEN "schedule_slots"."lease_until" END <= CAST(?2 AS INTEGER) WHEN 0 THEN 0 WHEN 1 THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE CASE WHEN "schedule_slots"."lease_until" IS NULL THEN CASE WHEN CAST("schedule_slots"."id" AS TEXT) NOT IN (SELECT CAST(value AS TEXT) FROM json_each(?1) WHERE value IS NOT NULL) THEN 1 ELSE 'skipped' END ELSE 'unreadable' END END ELSE CASE WHEN ("schedule_slots"."created_at" IS NOT NULL) THEN 'unreadable' ELSE 'undated' END END END) IS 1) THEN 1 ELSE json_extract('1', 'fence:sweep') END;
--   SCAN CONSTANT ROW
--   SCALAR SUBQUERY 4
--     SEARCH schedule_slots USING INDEX sqlite_autoindex_schedule_slots_1 (id=?)
--     LIST SUBQUERY 1
--       SCAN j VIRTUAL TABLE INDEX 1:
--     LIST SUBQUERY 2
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER
--     LIST SUBQUERY 3
--       SCAN json_each VIRTUAL TABLE INDEX 1:
--       CREATE BLOOM FILTER

