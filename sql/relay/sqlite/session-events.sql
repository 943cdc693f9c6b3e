-- rule session-events, table session_events, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("session_events"."rowid"), CASE typeof("session_events"."rowid") WHEN 'integer' THEN CAST("session_events"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "session_events"."rowid") WHEN 'blob' THEN hex("session_events"."rowid") ELSE "session_events"."rowid" END FROM "session_events" NOT INDEXED ORDER BY "session_events"."rowid" DESC LIMIT 1;
--   SCAN session_events

-- boundary, 3 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "session_events"."rowid" AS k0, CASE WHEN +"session_events"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (type NOT GLOB 'status.*') THEN CASE WHEN NOT EXISTS (SELECT 1 FROM "session_events" AS "retention_newer" WHERE "retention_newer"."agent_id" IS "session_events"."agent_id" AND ("retention_newer"."sequence") > ("session_events"."sequence") AND CASE WHEN typeof("retention_newer"."created_at") IN ('integer', 'real') THEN "retention_newer"."created_at" END IS NOT NULL AND CASE WHEN ("retention_newer".type NOT GLOB 'status.*') THEN 1 ELSE 0 END LIMIT 1 OFFSET 0) THEN 0 ELSE 1 END ELSE 0 END WHEN typeof("session_events"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (type NOT GLOB 'status.*') THEN 'unreadable' ELSE 0 END END AS v FROM "session_events" NOT INDEXED WHERE "session_events"."rowid" > +CAST(?2 AS INTEGER) AND "session_events"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH session_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- delete, 3 bound
DELETE FROM "session_events" NOT INDEXED WHERE "session_events"."rowid" > +CAST(?2 AS INTEGER) AND "session_events"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE WHEN +"session_events"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (type NOT GLOB 'status.*') THEN CASE WHEN NOT EXISTS (SELECT 1 FROM "session_events" AS "retention_newer" WHERE "retention_newer"."agent_id" IS "session_events"."agent_id" AND ("retention_newer"."sequence") > ("session_events"."sequence") AND CASE WHEN typeof("retention_newer"."created_at") IN ('integer', 'real') THEN "retention_newer"."created_at" END IS NOT NULL AND CASE WHEN ("retention_newer".type NOT GLOB 'status.*') THEN 1 ELSE 0 END LIMIT 1 OFFSET 0) THEN 0 ELSE 1 END ELSE 0 END WHEN typeof("session_events"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (type NOT GLOB 'status.*') THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH session_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)

-- first boundary, 2 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "session_events"."rowid" AS k0, CASE WHEN +"session_events"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (type NOT GLOB 'status.*') THEN CASE WHEN NOT EXISTS (SELECT 1 FROM "session_events" AS "retention_newer" WHERE "retention_newer"."agent_id" IS "session_events"."agent_id" AND ("retention_newer"."sequence") > ("session_events"."sequence") AND CASE WHEN typeof("retention_newer"."created_at") IN ('integer', 'real') THEN "retention_newer"."created_at" END IS NOT NULL AND CASE WHEN ("retention_newer".type NOT GLOB 'status.*') THEN 1 ELSE 0 END LIMIT 1 OFFSET 0) THEN 0 ELSE 1 END ELSE 0 END WHEN typeof("session_events"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (type NOT GLOB 'status.*') THEN 'unreadable' ELSE 0 END END AS v FROM "session_events" NOT INDEXED WHERE "session_events"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH session_events USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- rule session-events, table session_events, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("session_events"."rowid"), CASE typeof("session_events"."rowid") WHEN 'integer' THEN CAST("session_events"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "session_events"."rowid") WHEN 'blob' THEN hex("session_events"."rowid") ELSE "session_events"."rowid" END FROM "session_events" NOT INDEXED ORDER BY "session_events"."rowid" DESC LIMIT 1;
--   SCAN session_events

-- rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "session_events"."rowid" AS k0, CASE WHEN +"session_events"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (type NOT GLOB 'status.*') THEN CASE WHEN NOT EXISTS (SELECT 1 FROM "session_events" AS "retention_newer" WHERE "retention_newer"."agent_id" IS "session_events"."agent_id" AND ("retention_newer"."sequence") > ("session_events"."sequence") AND CASE WHEN typeof("retention_newer"."created_at") IN ('integer', 'real') THEN "retention_newer"."created_at" END IS NOT NULL AND CASE WHEN ("retention_newer".type NOT GLOB 'status.*') THEN 1 ELSE 0 END LIMIT 1 OFFSET 0) THEN 0 ELSE 1 END ELSE 0 END WHEN typeof("session_events"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (type NOT GLOB 'status.*') THEN 'unreadable' ELSE 0 END END AS v, (CASE typeof("session_events"."id") WHEN 'text' THEN 't' || hex("session_events"."id") ELSE quote("session_events"."id") END || ',' || (CASE typeof("session_events"."type") WHEN 'text' THEN 't' || hex("session_events"."type") ELSE quote("session_events"."type") END || ',' || CASE typeof("session_events"."created_at") WHEN 'text' THEN 't' || hex("session_events"."created_at") ELSE quote("session_events"."created_at") END)) AS g FROM "session_events" NOT INDEXED WHERE "session_events"."rowid" > +CAST(?2 AS INTEGER) AND "session_events"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "session_events"."rowid" LIMIT 4000);
--   SEARCH session_events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)

-- delete, 2 bound
DELETE FROM "session_events" NOT INDEXED WHERE "session_events"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "session_events" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."id") WHEN 'text' THEN 't' || hex("q"."id") ELSE quote("q"."id") END || ',' || (CASE typeof("q"."type") WHEN 'text' THEN 't' || hex("q"."type") ELSE quote("q"."type") END || ',' || CASE typeof("q"."created_at") WHEN 'text' THEN 't' || hex("q"."created_at") ELSE quote("q"."created_at") END)) IS j.value) AND (CASE WHEN +"session_events"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (type NOT GLOB 'status.*') THEN CASE WHEN NOT EXISTS (SELECT 1 FROM "session_events" AS "retention_newer" WHERE "retention_newer"."agent_id" IS "session_events"."agent_id" AND ("retention_newer"."sequence") > ("session_events"."sequence") AND CASE WHEN typeof("retention_newer"."created_at") IN ('integer', 'real') THEN "retention_newer"."created_at" END IS NOT NULL AND CASE WHEN ("retention_newer".type NOT GLOB 'status.*') THEN 1 ELSE 0 END LIMIT 1 OFFSET 0) THEN 0 ELSE 1 END ELSE 0 END WHEN typeof("session_events"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (type NOT GLOB 'status.*') THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH session_events USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)

-- first rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "session_events"."rowid" AS k0, CASE WHEN +"session_events"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (type NOT GLOB 'status.*') THEN CASE WHEN NOT EXISTS (SELECT 1 FROM "session_events" AS "retention_newer" WHERE "retention_newer"."agent_id" IS "session_events"."agent_id" AND ("retention_newer"."sequence") > ("session_events"."sequence") AND CASE WHEN typeof("retention_newer"."created_at") IN ('integer', 'real') THEN "retention_newer"."created_at" END IS NOT NULL AND CASE WHEN ("retention_newer".type NOT GLOB 'status.*') THEN 1 ELSE 0 END LIMIT 1 OFFSET 0) THEN 0 ELSE 1 END ELSE 0 END WHEN typeof("session_events"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (type NOT GLOB 'status.*') THEN 'unreadable' ELSE 0 END END AS v, (CASE typeof("session_events"."id") WHEN 'text' THEN 't' || hex("session_events"."id") ELSE quote("session_events"."id") END || ',' || (CASE typeof("session_events"."type") WHEN 'text' THEN 't' || hex("session_events"."type") ELSE quote("session_events"."type") END || ',' || CASE typeof("session_events"."created_at") WHEN 'text' THEN 't' || hex("session_events"."created_at") ELSE quote("session_events"."created_at") END)) AS g FROM "session_events" NOT INDEXED WHERE "session_events"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "session_events"."rowid" LIMIT 4000);
--   SEARCH session_events USING INTEGER PRIMARY KEY (rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH retention_newer USING INDEX session_events_agent_sequence_unique (agent_id=? AND sequence>?)

