-- rule deliveries, table deliveries, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("deliveries"."rowid"), CASE typeof("deliveries"."rowid") WHEN 'integer' THEN CAST("deliveries"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "deliveries"."rowid") WHEN 'blob' THEN hex("deliveries"."rowid") ELSE "deliveries"."rowid" END FROM "deliveries" NOT INDEXED ORDER BY "deliveries"."rowid" DESC LIMIT 1;
--   SCAN deliveries

-- boundary, 5 bound
SELECT n, gone, old, unreadable, malformed, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN 0 ELSE +"deliveries"."created_at" < +((CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" > +CAST(?4 AS INTEGER) AND "deliveries"."rowid" <= +CAST(?5 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-4)
--     CO-ROUTINE (subquery-3)
--       SEARCH deliveries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 2
--         SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--         CORRELATED SCALAR SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-3)
--   SCAN (subquery-4)

-- delete, 5 bound
DELETE FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" > +CAST(?4 AS INTEGER) AND "deliveries"."rowid" <= +CAST(?5 AS INTEGER) AND (CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN 0 ELSE +"deliveries"."created_at" < +((CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH deliveries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 1
--       SCAN json_each VIRTUAL TABLE INDEX 1:

-- first boundary, 4 bound
SELECT n, gone, old, unreadable, malformed, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN 0 ELSE +"deliveries"."created_at" < +((CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-4)
--     CO-ROUTINE (subquery-3)
--       SEARCH deliveries USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 2
--         SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--         CORRELATED SCALAR SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-3)
--   SCAN (subquery-4)

-- rule deliveries, table deliveries, range, at most 1,000 tenants mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("deliveries"."rowid"), CASE typeof("deliveries"."rowid") WHEN 'integer' THEN CAST("deliveries"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "deliveries"."rowid") WHEN 'blob' THEN hex("deliveries"."rowid") ELSE "deliveries"."rowid" END FROM "deliveries" NOT INDEXED ORDER BY "deliveries"."rowid" DESC LIMIT 1;
--   SCAN deliveries

-- boundary, 5 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN -9e999 ELSE (CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000 END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT n, gone, old, unreadable, malformed, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce(CASE WHEN +"deliveries"."created_at" < +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE min(cut) END FROM "retention_keeps") THEN CASE WHEN +"deliveries"."created_at" < +CAST(?2 AS INTEGER) THEN 1 END WHEN +"deliveries"."created_at" >= +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE max(cut) END FROM "retention_keeps") AND NOT (+"deliveries"."created_at" < +CAST(?2 AS INTEGER)) THEN 0 END, (SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE +"deliveries"."created_at" < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" > +CAST(?4 AS INTEGER) AND "deliveries"."rowid" <= +CAST(?5 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-7)
--     CO-ROUTINE (subquery-6)
--       SEARCH deliveries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       SCALAR SUBQUERY 3
--         MATERIALIZE retention_keeps
--           SCAN workspaces
--           CORRELATED SCALAR SUBQUERY 1
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--         SCAN retention_keeps
--       SCALAR SUBQUERY 4
--         SEARCH retention_keeps
--       CORRELATED SCALAR SUBQUERY 5
--         BLOOM FILTER ON retention_keeps (tenant=?)
--         SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-6)
--   SCAN (subquery-7)

-- delete, 5 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN -9e999 ELSE (CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000 END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE x'' END END AS cut FROM "workspaces") DELETE FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" > +CAST(?4 AS INTEGER) AND "deliveries"."rowid" <= +CAST(?5 AS INTEGER) AND (CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce(CASE WHEN +"deliveries"."created_at" < +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE min(cut) END FROM "retention_keeps") THEN CASE WHEN +"deliveries"."created_at" < +CAST(?2 AS INTEGER) THEN 1 END WHEN +"deliveries"."created_at" >= +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE max(cut) END FROM "retention_keeps") AND NOT (+"deliveries"."created_at" < +CAST(?2 AS INTEGER)) THEN 0 END, (SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE +"deliveries"."created_at" < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH deliveries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   SCALAR SUBQUERY 3
--     MATERIALIZE retention_keeps
--       SCAN workspaces
--       CORRELATED SCALAR SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCAN retention_keeps
--   SCALAR SUBQUERY 4
--     SEARCH retention_keeps
--   CORRELATED SCALAR SUBQUERY 5
--     BLOOM FILTER ON retention_keeps (tenant=?)
--     SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)

-- first boundary, 4 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN -9e999 ELSE (CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000 END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT n, gone, old, unreadable, malformed, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, tenants FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'malformed') AS malformed, max(k0) AS k0, nullif(json_group_array(DISTINCT hex('aa' || tenant)) FILTER (WHERE v IS 'malformed'), '[]') AS tenants FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce(CASE WHEN +"deliveries"."created_at" < +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE min(cut) END FROM "retention_keeps") THEN CASE WHEN +"deliveries"."created_at" < +CAST(?2 AS INTEGER) THEN 1 END WHEN +"deliveries"."created_at" >= +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE max(cut) END FROM "retention_keeps") AND NOT (+"deliveries"."created_at" < +CAST(?2 AS INTEGER)) THEN 0 END, (SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE +"deliveries"."created_at" < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-7)
--     CO-ROUTINE (subquery-6)
--       SEARCH deliveries USING INTEGER PRIMARY KEY (rowid<?)
--       SCALAR SUBQUERY 3
--         MATERIALIZE retention_keeps
--           SCAN workspaces
--           CORRELATED SCALAR SUBQUERY 1
--             SCAN json_each VIRTUAL TABLE INDEX 1:
--         SCAN retention_keeps
--       SCALAR SUBQUERY 4
--         SEARCH retention_keeps
--       CORRELATED SCALAR SUBQUERY 5
--         BLOOM FILTER ON retention_keeps (tenant=?)
--         SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--     USE TEMP B-TREE FOR json_group_array(DISTINCT)
--     SCAN (subquery-6)
--   SCAN (subquery-7)

-- rule deliveries, table deliveries, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("deliveries"."rowid"), CASE typeof("deliveries"."rowid") WHEN 'integer' THEN CAST("deliveries"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "deliveries"."rowid") WHEN 'blob' THEN hex("deliveries"."rowid") ELSE "deliveries"."rowid" END FROM "deliveries" NOT INDEXED ORDER BY "deliveries"."rowid" DESC LIMIT 1;
--   SCAN deliveries

-- rows, 5 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN 0 ELSE +"deliveries"."created_at" < +((CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, ((CASE typeof("deliveries"."id") WHEN 'text' THEN 't' || hex("deliveries"."id") ELSE quote("deliveries"."id") END || ',' || CASE typeof("deliveries"."workspace_id") WHEN 'text' THEN 't' || hex("deliveries"."workspace_id") ELSE quote("deliveries"."workspace_id") END) || ',' || (CASE typeof("deliveries"."status") WHEN 'text' THEN 't' || hex("deliveries"."status") ELSE quote("deliveries"."status") END || ',' || CASE typeof("deliveries"."created_at") WHEN 'text' THEN 't' || hex("deliveries"."created_at") ELSE quote("deliveries"."created_at") END)) AS g, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" > +CAST(?4 AS INTEGER) AND "deliveries"."rowid" <= +CAST(?5 AS INTEGER) ORDER BY "deliveries"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-3)
--     SEARCH deliveries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     CORRELATED SCALAR SUBQUERY 2
--       SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--       CORRELATED SCALAR SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--   SCAN (subquery-3)

-- delete, 4 bound
DELETE FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" IN (SELECT "q"."rowid" FROM json_each(?4) AS j CROSS JOIN "deliveries" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE ((CASE typeof("q"."id") WHEN 'text' THEN 't' || hex("q"."id") ELSE quote("q"."id") END || ',' || CASE typeof("q"."workspace_id") WHEN 'text' THEN 't' || hex("q"."workspace_id") ELSE quote("q"."workspace_id") END) || ',' || (CASE typeof("q"."status") WHEN 'text' THEN 't' || hex("q"."status") ELSE quote("q"."status") END || ',' || CASE typeof("q"."created_at") WHEN 'text' THEN 't' || hex("q"."created_at") ELSE quote("q"."created_at") END)) IS j.value) AND (CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN 0 ELSE +"deliveries"."created_at" < +((CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH deliveries USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 3
--     SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--     CORRELATED SCALAR SUBQUERY 2
--       SCAN json_each VIRTUAL TABLE INDEX 1:

-- first rows, 4 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce((SELECT CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN 'malformed' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN 0 ELSE +"deliveries"."created_at" < +((CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000) END ELSE 0 END ELSE 'malformed' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE 'malformed' END END FROM "workspaces" WHERE "workspaces"."id" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, ((CASE typeof("deliveries"."id") WHEN 'text' THEN 't' || hex("deliveries"."id") ELSE quote("deliveries"."id") END || ',' || CASE typeof("deliveries"."workspace_id") WHEN 'text' THEN 't' || hex("deliveries"."workspace_id") ELSE quote("deliveries"."workspace_id") END) || ',' || (CASE typeof("deliveries"."status") WHEN 'text' THEN 't' || hex("deliveries"."status") ELSE quote("deliveries"."status") END || ',' || CASE typeof("deliveries"."created_at") WHEN 'text' THEN 't' || hex("deliveries"."created_at") ELSE quote("deliveries"."created_at") END)) AS g, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY "deliveries"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-3)
--     SEARCH deliveries USING INTEGER PRIMARY KEY (rowid<?)
--     CORRELATED SCALAR SUBQUERY 2
--       SEARCH workspaces USING INDEX sqlite_autoindex_workspaces_1 (id=?)
--       CORRELATED SCALAR SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--   SCAN (subquery-3)

-- rule deliveries, table deliveries, chunk, at most 1,000 tenants mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("deliveries"."rowid"), CASE typeof("deliveries"."rowid") WHEN 'integer' THEN CAST("deliveries"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "deliveries"."rowid") WHEN 'blob' THEN hex("deliveries"."rowid") ELSE "deliveries"."rowid" END FROM "deliveries" NOT INDEXED ORDER BY "deliveries"."rowid" DESC LIMIT 1;
--   SCAN deliveries

-- rows, 5 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN -9e999 ELSE (CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000 END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce(CASE WHEN +"deliveries"."created_at" < +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE min(cut) END FROM "retention_keeps") THEN CASE WHEN +"deliveries"."created_at" < +CAST(?2 AS INTEGER) THEN 1 END WHEN +"deliveries"."created_at" >= +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE max(cut) END FROM "retention_keeps") AND NOT (+"deliveries"."created_at" < +CAST(?2 AS INTEGER)) THEN 0 END, (SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE +"deliveries"."created_at" < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, ((CASE typeof("deliveries"."id") WHEN 'text' THEN 't' || hex("deliveries"."id") ELSE quote("deliveries"."id") END || ',' || CASE typeof("deliveries"."workspace_id") WHEN 'text' THEN 't' || hex("deliveries"."workspace_id") ELSE quote("deliveries"."workspace_id") END) || ',' || (CASE typeof("deliveries"."status") WHEN 'text' THEN 't' || hex("deliveries"."status") ELSE quote("deliveries"."status") END || ',' || CASE typeof("deliveries"."created_at") WHEN 'text' THEN 't' || hex("deliveries"."created_at") ELSE quote("deliveries"."created_at") END)) AS g, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" > +CAST(?4 AS INTEGER) AND "deliveries"."rowid" <= +CAST(?5 AS INTEGER) ORDER BY "deliveries"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-6)
--     SEARCH deliveries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 3
--       MATERIALIZE retention_keeps
--         SCAN workspaces
--         CORRELATED SCALAR SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCAN retention_keeps
--     SCALAR SUBQUERY 4
--       SEARCH retention_keeps
--     CORRELATED SCALAR SUBQUERY 5
--       BLOOM FILTER ON retention_keeps (tenant=?)
--       SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--   SCAN (subquery-6)

-- delete, 4 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN -9e999 ELSE (CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000 END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE x'' END END AS cut FROM "workspaces") DELETE FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" IN (SELECT "q"."rowid" FROM json_each(?4) AS j CROSS JOIN "deliveries" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE ((CASE typeof("q"."id") WHEN 'text' THEN 't' || hex("q"."id") ELSE quote("q"."id") END || ',' || CASE typeof("q"."workspace_id") WHEN 'text' THEN 't' || hex("q"."workspace_id") ELSE quote("q"."workspace_id") END) || ',' || (CASE typeof("q"."status") WHEN 'text' THEN 't' || hex("q"."status") ELSE quote("q"."status") END || ',' || CASE typeof("q"."created_at") WHEN 'text' THEN 't' || hex("q"."created_at") ELSE quote("q"."created_at") END)) IS j.value) AND (CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce(CASE WHEN +"deliveries"."created_at" < +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE min(cut) END FROM "retention_keeps") THEN CASE WHEN +"deliveries"."created_at" < +CAST(?2 AS INTEGER) THEN 1 END WHEN +"deliveries"."created_at" >= +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE max(cut) END FROM "retention_keeps") AND NOT (+"deliveries"."created_at" < +CAST(?2 AS INTEGER)) THEN 0 END, (SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE +"deliveries"."created_at" < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END) IS 1;
--   SEARCH deliveries USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 3
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   SCALAR SUBQUERY 4
--     MATERIALIZE retention_keeps
--       SCAN workspaces
--       CORRELATED SCALAR SUBQUERY 1
--         SCAN json_each VIRTUAL TABLE INDEX 1:
--     SCAN retention_keeps
--   SCALAR SUBQUERY 5
--     SEARCH retention_keeps
--   CORRELATED SCALAR SUBQUERY 6
--     BLOOM FILTER ON retention_keeps (tenant=?)
--     SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)

-- first rows, 4 bound
WITH "retention_keeps" AS MATERIALIZED (SELECT "workspaces"."id" AS tenant, CASE WHEN "workspaces"."retention" IS NULL OR "workspaces"."retention" = '' THEN NULL WHEN NOT (json_valid("workspaces"."retention") AND instr("workspaces"."retention", char(0)) = 0) THEN x'' ELSE CASE json_type("workspaces"."retention") WHEN 'null' THEN NULL WHEN 'object' THEN (SELECT CASE count(*) WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN min(json_each.type) IN ('integer', 'real') AND min(json_each.value) > 0 THEN CASE WHEN max(min(json_each.value), 0.041666666666666664) * 86400000.0 >= CAST(?3 AS INTEGER) THEN -9e999 ELSE (CAST(CAST(?3 AS INTEGER) - max(min(json_each.value), 0.041666666666666664) * 86400000.0 AS INTEGER)) / 1000 END ELSE -9e999 END ELSE x'' END FROM json_each("workspaces"."retention") WHERE json_each.key = 'delivery_ttl_days') ELSE x'' END END AS cut FROM "workspaces") SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END, CASE WHEN v IS 'malformed' THEN hex('aa' || tenant) END FROM (SELECT "deliveries"."rowid" AS k0, CASE WHEN +"deliveries"."created_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN CASE coalesce(CASE WHEN +"deliveries"."created_at" < +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE min(cut) END FROM "retention_keeps") THEN CASE WHEN +"deliveries"."created_at" < +CAST(?2 AS INTEGER) THEN 1 END WHEN +"deliveries"."created_at" >= +(SELECT CASE typeof(max(cut)) WHEN 'blob' THEN NULL ELSE max(cut) END FROM "retention_keeps") AND NOT (+"deliveries"."created_at" < +CAST(?2 AS INTEGER)) THEN 0 END, (SELECT CASE typeof(cut) WHEN 'null' THEN NULL WHEN 'blob' THEN 'malformed' ELSE +"deliveries"."created_at" < +cut END FROM "retention_keeps" WHERE "retention_keeps"."tenant" = "deliveries"."workspace_id"), +"deliveries"."created_at" < +CAST(?2 AS INTEGER)) WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 'malformed' END ELSE 0 END WHEN typeof("deliveries"."created_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('acked', 'failed', 'dead_lettered')) THEN 'unreadable' ELSE 0 END END AS v, ((CASE typeof("deliveries"."id") WHEN 'text' THEN 't' || hex("deliveries"."id") ELSE quote("deliveries"."id") END || ',' || CASE typeof("deliveries"."workspace_id") WHEN 'text' THEN 't' || hex("deliveries"."workspace_id") ELSE quote("deliveries"."workspace_id") END) || ',' || (CASE typeof("deliveries"."status") WHEN 'text' THEN 't' || hex("deliveries"."status") ELSE quote("deliveries"."status") END || ',' || CASE typeof("deliveries"."created_at") WHEN 'text' THEN 't' || hex("deliveries"."created_at") ELSE quote("deliveries"."created_at") END)) AS g, "deliveries"."workspace_id" AS tenant FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" <= +CAST(?4 AS INTEGER) ORDER BY "deliveries"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-6)
--     SEARCH deliveries USING INTEGER PRIMARY KEY (rowid<?)
--     SCALAR SUBQUERY 3
--       MATERIALIZE retention_keeps
--         SCAN workspaces
--         CORRELATED SCALAR SUBQUERY 1
--           SCAN json_each VIRTUAL TABLE INDEX 1:
--       SCAN retention_keeps
--     SCALAR SUBQUERY 4
--       SEARCH retention_keeps
--     CORRELATED SCALAR SUBQUERY 5
--       BLOOM FILTER ON retention_keeps (tenant=?)
--       SEARCH retention_keeps USING AUTOMATIC COVERING INDEX (tenant=?)
--   SCAN (subquery-6)

