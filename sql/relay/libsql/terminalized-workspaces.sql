-- rule terminalized-workspaces, table workspace_create_idempotency, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("workspace_create_idempotency"."rowid"), CASE typeof("workspace_create_idempotency"."rowid") WHEN 'integer' THEN CAST("workspace_create_idempotency"."rowid" AS TEXT) WHEN 'blob' THEN hex("workspace_create_idempotency"."rowid") ELSE "workspace_create_idempotency"."rowid" END FROM "workspace_create_idempotency" NOT INDEXED ORDER BY "workspace_create_idempotency"."rowid" DESC LIMIT 1;
--   SCAN workspace_create_idempotency

-- boundary, 3 bound
SELECT n, gone, old, undated, unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS last, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" > +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "workspace_create_idempotency"."rowid" LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete, 3 bound
DELETE FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" > +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- first boundary, 2 bound
SELECT n, gone, old, undated, unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS last, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "workspace_create_idempotency"."rowid" LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete between the rows that the boundary saw, 3 bound
DELETE FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" >= +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- rule terminalized-workspaces, table workspace_create_idempotency, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("workspace_create_idempotency"."rowid"), CASE typeof("workspace_create_idempotency"."rowid") WHEN 'integer' THEN CAST("workspace_create_idempotency"."rowid" AS TEXT) WHEN 'blob' THEN hex("workspace_create_idempotency"."rowid") ELSE "workspace_create_idempotency"."rowid" END FROM "workspace_create_idempotency" NOT INDEXED ORDER BY "workspace_create_idempotency"."rowid" DESC LIMIT 1;
--   SCAN workspace_create_idempotency

-- rows, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, "workspace_create_idempotency"."rowid" AS k1, CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v, ((quote("workspace_create_idempotency"."owner_scope_hash") || ',' || quote("workspace_create_idempotency"."idempotency_key_hash")) || ',' || (quote("workspace_create_idempotency"."status") || ',' || quote("workspace_create_idempotency"."terminalized_at"))) AS g FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" > +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "workspace_create_idempotency"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   SCAN (subquery-1)

-- delete, 2 bound
DELETE FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "workspace_create_idempotency" AS q NOT INDEXED ON "q"."rowid" = CASE json_type(j.value, '$[0]') WHEN 'object' THEN unhex(json_extract(j.value, '$[0].blob')) ELSE json_extract(j.value, '$[0]') END WHERE ((quote("q"."owner_scope_hash") || ',' || quote("q"."idempotency_key_hash")) || ',' || (quote("q"."status") || ',' || quote("q"."terminalized_at"))) IS json_extract(j.value, '$[1]')) AND (CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- first rows, 2 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, "workspace_create_idempotency"."rowid" AS k1, CASE CASE WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN "workspace_create_idempotency"."terminalized_at" END < CAST(?1 AS INTEGER) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v, ((quote("workspace_create_idempotency"."owner_scope_hash") || ',' || quote("workspace_create_idempotency"."idempotency_key_hash")) || ',' || (quote("workspace_create_idempotency"."status") || ',' || quote("workspace_create_idempotency"."terminalized_at"))) AS g FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "workspace_create_idempotency"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid<?)
--   SCAN (subquery-1)

