-- rule terminalized-workspaces, table workspace_create_idempotency, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("workspace_create_idempotency"."rowid"), CASE typeof("workspace_create_idempotency"."rowid") WHEN 'integer' THEN CAST("workspace_create_idempotency"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "workspace_create_idempotency"."rowid") WHEN 'blob' THEN hex("workspace_create_idempotency"."rowid") ELSE "workspace_create_idempotency"."rowid" END FROM "workspace_create_idempotency" NOT INDEXED ORDER BY "workspace_create_idempotency"."rowid" DESC LIMIT 1;
--   SCAN workspace_create_idempotency

-- boundary, 3 bound
SELECT n, gone, old, undated, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, CASE WHEN +"workspace_create_idempotency"."terminalized_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" > +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete, 3 bound
DELETE FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" > +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE WHEN +"workspace_create_idempotency"."terminalized_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- first boundary, 2 bound
SELECT n, gone, old, undated, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, CASE WHEN +"workspace_create_idempotency"."terminalized_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- rule terminalized-workspaces, table workspace_create_idempotency, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("workspace_create_idempotency"."rowid"), CASE typeof("workspace_create_idempotency"."rowid") WHEN 'integer' THEN CAST("workspace_create_idempotency"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "workspace_create_idempotency"."rowid") WHEN 'blob' THEN hex("workspace_create_idempotency"."rowid") ELSE "workspace_create_idempotency"."rowid" END FROM "workspace_create_idempotency" NOT INDEXED ORDER BY "workspace_create_idempotency"."rowid" DESC LIMIT 1;
--   SCAN workspace_create_idempotency

-- rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, CASE WHEN +"workspace_create_idempotency"."terminalized_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v, ((CASE typeof("workspace_create_idempotency"."owner_scope_hash") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."owner_scope_hash") ELSE quote("workspace_create_idempotency"."owner_scope_hash") END || ',' || CASE typeof("workspace_create_idempotency"."idempotency_key_hash") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."idempotency_key_hash") ELSE quote("workspace_create_idempotency"."idempotency_key_hash") END) || ',' || (CASE typeof("workspace_create_idempotency"."status") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."status") ELSE quote("workspace_create_idempotency"."status") END || ',' || CASE typeof("workspace_create_idempotency"."terminalized_at") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."terminalized_at") ELSE quote("workspace_create_idempotency"."terminalized_at") END)) AS g FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" > +CAST(?2 AS INTEGER) AND "workspace_create_idempotency"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "workspace_create_idempotency"."rowid" LIMIT 4000);
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- delete, 2 bound
DELETE FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "workspace_create_idempotency" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE ((CASE typeof("q"."owner_scope_hash") WHEN 'text' THEN 't' || hex("q"."owner_scope_hash") ELSE quote("q"."owner_scope_hash") END || ',' || CASE typeof("q"."idempotency_key_hash") WHEN 'text' THEN 't' || hex("q"."idempotency_key_hash") ELSE quote("q"."idempotency_key_hash") END) || ',' || (CASE typeof("q"."status") WHEN 'text' THEN 't' || hex("q"."status") ELSE quote("q"."status") END || ',' || CASE typeof("q"."terminalized_at") WHEN 'text' THEN 't' || hex("q"."terminalized_at") ELSE quote("q"."terminalized_at") END)) IS j.value) AND (CASE WHEN +"workspace_create_idempotency"."terminalized_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- first rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "workspace_create_idempotency"."rowid" AS k0, CASE WHEN +"workspace_create_idempotency"."terminalized_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status = 'terminalized') THEN 1 ELSE 0 END WHEN typeof("workspace_create_idempotency"."terminalized_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status = 'terminalized') THEN CASE WHEN "workspace_create_idempotency"."terminalized_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v, ((CASE typeof("workspace_create_idempotency"."owner_scope_hash") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."owner_scope_hash") ELSE quote("workspace_create_idempotency"."owner_scope_hash") END || ',' || CASE typeof("workspace_create_idempotency"."idempotency_key_hash") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."idempotency_key_hash") ELSE quote("workspace_create_idempotency"."idempotency_key_hash") END) || ',' || (CASE typeof("workspace_create_idempotency"."status") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."status") ELSE quote("workspace_create_idempotency"."status") END || ',' || CASE typeof("workspace_create_idempotency"."terminalized_at") WHEN 'text' THEN 't' || hex("workspace_create_idempotency"."terminalized_at") ELSE quote("workspace_create_idempotency"."terminalized_at") END)) AS g FROM "workspace_create_idempotency" NOT INDEXED WHERE "workspace_create_idempotency"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "workspace_create_idempotency"."rowid" LIMIT 4000);
--   SEARCH workspace_create_idempotency USING INTEGER PRIMARY KEY (rowid<?)

