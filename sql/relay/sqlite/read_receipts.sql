-- rule read_receipts, table read_receipts, range mode, walk rowid: the rule has no age

-- high-water, 0 bound
SELECT typeof("read_receipts"."rowid"), CASE typeof("read_receipts"."rowid") WHEN 'integer' THEN CAST("read_receipts"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "read_receipts"."rowid") WHEN 'blob' THEN hex("read_receipts"."rowid") ELSE "read_receipts"."rowid" END FROM "read_receipts" NOT INDEXED ORDER BY "read_receipts"."rowid" DESC LIMIT 1;
--   SCAN read_receipts

-- boundary, 2 bound
SELECT n, gone, old, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, max(k0) AS k0 FROM (SELECT "read_receipts"."rowid" AS k0, CASE WHEN (NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = read_receipts.message_id)) THEN 1 ELSE 0 END AS v FROM "read_receipts" NOT INDEXED WHERE "read_receipts"."rowid" > +CAST(?1 AS INTEGER) AND "read_receipts"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH read_receipts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- delete, 2 bound
DELETE FROM "read_receipts" NOT INDEXED WHERE "read_receipts"."rowid" > +CAST(?1 AS INTEGER) AND "read_receipts"."rowid" <= +CAST(?2 AS INTEGER) AND (CASE WHEN (NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = read_receipts.message_id)) THEN 1 ELSE 0 END) IS 1;
--   SEARCH read_receipts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)

-- first boundary, 1 bound
SELECT n, gone, old, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, max(k0) AS k0 FROM (SELECT "read_receipts"."rowid" AS k0, CASE WHEN (NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = read_receipts.message_id)) THEN 1 ELSE 0 END AS v FROM "read_receipts" NOT INDEXED WHERE "read_receipts"."rowid" <= +CAST(?1 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH read_receipts USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- rule read_receipts, table read_receipts, chunk mode, walk rowid: the rule has no age

-- high-water, 0 bound
SELECT typeof("read_receipts"."rowid"), CASE typeof("read_receipts"."rowid") WHEN 'integer' THEN CAST("read_receipts"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "read_receipts"."rowid") WHEN 'blob' THEN hex("read_receipts"."rowid") ELSE "read_receipts"."rowid" END FROM "read_receipts" NOT INDEXED ORDER BY "read_receipts"."rowid" DESC LIMIT 1;
--   SCAN read_receipts

-- rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "read_receipts"."rowid" AS k0, CASE WHEN (NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = read_receipts.message_id)) THEN 1 ELSE 0 END AS v, (CASE typeof("read_receipts"."message_id") WHEN 'text' THEN 't' || hex("read_receipts"."message_id") ELSE quote("read_receipts"."message_id") END || ',' || CASE typeof("read_receipts"."agent_id") WHEN 'text' THEN 't' || hex("read_receipts"."agent_id") ELSE quote("read_receipts"."agent_id") END) AS g FROM "read_receipts" NOT INDEXED WHERE "read_receipts"."rowid" > +CAST(?1 AS INTEGER) AND "read_receipts"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "read_receipts"."rowid" LIMIT 4000);
--   SEARCH read_receipts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)

-- delete, 1 bound
DELETE FROM "read_receipts" NOT INDEXED WHERE "read_receipts"."rowid" IN (SELECT "q"."rowid" FROM json_each(?1) AS j CROSS JOIN "read_receipts" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."message_id") WHEN 'text' THEN 't' || hex("q"."message_id") ELSE quote("q"."message_id") END || ',' || CASE typeof("q"."agent_id") WHEN 'text' THEN 't' || hex("q"."agent_id") ELSE quote("q"."agent_id") END) IS j.value) AND (CASE WHEN (NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = read_receipts.message_id)) THEN 1 ELSE 0 END) IS 1;
--   SEARCH read_receipts USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)

-- first rows, 1 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "read_receipts"."rowid" AS k0, CASE WHEN (NOT EXISTS (SELECT 1 FROM messages WHERE messages.id = read_receipts.message_id)) THEN 1 ELSE 0 END AS v, (CASE typeof("read_receipts"."message_id") WHEN 'text' THEN 't' || hex("read_receipts"."message_id") ELSE quote("read_receipts"."message_id") END || ',' || CASE typeof("read_receipts"."agent_id") WHEN 'text' THEN 't' || hex("read_receipts"."agent_id") ELSE quote("read_receipts"."agent_id") END) AS g FROM "read_receipts" NOT INDEXED WHERE "read_receipts"."rowid" <= +CAST(?1 AS INTEGER) ORDER BY "read_receipts"."rowid" LIMIT 4000);
--   SEARCH read_receipts USING INTEGER PRIMARY KEY (rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH messages USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)

