-- rule expired-deliveries, table deliveries, range mode, walk index:idx_deliveries_active_expiry: the policy says so

-- boundary, 4 bound
SELECT n, gone, old, undated, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'text' THEN hex('aa' || k1) WHEN 'blob' THEN hex(k1) ELSE k1 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "deliveries"."expires_at" AS k0, "deliveries"."id" AS k1, CASE WHEN +"deliveries"."expires_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('queued', 'delivered')) THEN 1 ELSE 0 END WHEN typeof("deliveries"."expires_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('queued', 'delivered')) THEN CASE WHEN "deliveries"."expires_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND ("deliveries"."expires_at", "deliveries"."id") > (+CAST(?2 AS INTEGER), ?3) AND "deliveries"."expires_at" < +CAST(?4 AS INTEGER) ORDER BY 1, 2 LIMIT 1000)) LEFT JOIN (SELECT "deliveries"."expires_at" AS k0, "deliveries"."id" AS k1 FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND ("deliveries"."expires_at", "deliveries"."id") > (+CAST(?2 AS INTEGER), ?3) AND "deliveries"."expires_at" < +CAST(?4 AS INTEGER) ORDER BY 1, 2 LIMIT 1 OFFSET 999) ON 1;
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH deliveries USING INDEX idx_deliveries_active_expiry ((expires_at,id)>(?,?) AND expires_at<?)
--     SCAN (subquery-1)
--   MATERIALIZE (subquery-3)
--     SEARCH deliveries USING INDEX idx_deliveries_active_expiry ((expires_at,id)>(?,?) AND expires_at<?)
--   SCAN (subquery-2)
--   SCAN (subquery-3) LEFT-JOIN

-- delete, 2 bound
DELETE FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" IN (SELECT "deliveries"."rowid" FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND "deliveries"."expires_at" < +CAST(?2 AS INTEGER) ORDER BY "deliveries"."expires_at", "deliveries"."id" LIMIT 1000) AND (CASE WHEN +"deliveries"."expires_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('queued', 'delivered')) THEN 1 ELSE 0 END WHEN typeof("deliveries"."expires_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('queued', 'delivered')) THEN CASE WHEN "deliveries"."expires_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH deliveries USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SEARCH deliveries USING INDEX idx_deliveries_active_expiry (expires_at>? AND expires_at<?)

-- first boundary, 2 bound
SELECT n, gone, old, undated, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'text' THEN hex('aa' || k1) WHEN 'blob' THEN hex(k1) ELSE k1 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "deliveries"."expires_at" AS k0, "deliveries"."id" AS k1, CASE WHEN +"deliveries"."expires_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('queued', 'delivered')) THEN 1 ELSE 0 END WHEN typeof("deliveries"."expires_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('queued', 'delivered')) THEN CASE WHEN "deliveries"."expires_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND "deliveries"."expires_at" < +CAST(?2 AS INTEGER) ORDER BY 1, 2 LIMIT 1000)) LEFT JOIN (SELECT "deliveries"."expires_at" AS k0, "deliveries"."id" AS k1 FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND "deliveries"."expires_at" < +CAST(?2 AS INTEGER) ORDER BY 1, 2 LIMIT 1 OFFSET 999) ON 1;
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH deliveries USING INDEX idx_deliveries_active_expiry (expires_at>? AND expires_at<?)
--     SCAN (subquery-1)
--   MATERIALIZE (subquery-3)
--     SEARCH deliveries USING INDEX idx_deliveries_active_expiry (expires_at>? AND expires_at<?)
--   SCAN (subquery-2)
--   SCAN (subquery-3) LEFT-JOIN

-- rule expired-deliveries, table deliveries, chunk mode, walk index:idx_deliveries_active_expiry: the policy says so

-- rows, 4 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'text' THEN hex('aa' || k1) WHEN 'blob' THEN hex(k1) ELSE k1 END, 'integer', CAST(k2 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "deliveries"."expires_at" AS k0, "deliveries"."id" AS k1, "deliveries"."rowid" AS k2, CASE WHEN +"deliveries"."expires_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('queued', 'delivered')) THEN 1 ELSE 0 END WHEN typeof("deliveries"."expires_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('queued', 'delivered')) THEN CASE WHEN "deliveries"."expires_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v, (CASE typeof("deliveries"."id") WHEN 'text' THEN 't' || hex("deliveries"."id") ELSE quote("deliveries"."id") END || ',' || (CASE typeof("deliveries"."status") WHEN 'text' THEN 't' || hex("deliveries"."status") ELSE quote("deliveries"."status") END || ',' || CASE typeof("deliveries"."expires_at") WHEN 'text' THEN 't' || hex("deliveries"."expires_at") ELSE quote("deliveries"."expires_at") END)) AS g FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND ("deliveries"."expires_at", "deliveries"."id") > (+CAST(?2 AS INTEGER), ?3) AND "deliveries"."expires_at" < +CAST(?4 AS INTEGER) ORDER BY "deliveries"."expires_at", "deliveries"."id" LIMIT 1000);
--   CO-ROUTINE (subquery-1)
--     SEARCH deliveries USING INDEX idx_deliveries_active_expiry ((expires_at,id)>(?,?) AND expires_at<?)
--   SCAN (subquery-1)

-- delete, 2 bound
DELETE FROM "deliveries" NOT INDEXED WHERE "deliveries"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "deliveries" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."id") WHEN 'text' THEN 't' || hex("q"."id") ELSE quote("q"."id") END || ',' || (CASE typeof("q"."status") WHEN 'text' THEN 't' || hex("q"."status") ELSE quote("q"."status") END || ',' || CASE typeof("q"."expires_at") WHEN 'text' THEN 't' || hex("q"."expires_at") ELSE quote("q"."expires_at") END)) IS j.value) AND (CASE WHEN +"deliveries"."expires_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('queued', 'delivered')) THEN 1 ELSE 0 END WHEN typeof("deliveries"."expires_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('queued', 'delivered')) THEN CASE WHEN "deliveries"."expires_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END) IS 1;
--   SEARCH deliveries USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- first rows, 2 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'text' THEN hex('aa' || k1) WHEN 'blob' THEN hex(k1) ELSE k1 END, 'integer', CAST(k2 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "deliveries"."expires_at" AS k0, "deliveries"."id" AS k1, "deliveries"."rowid" AS k2, CASE WHEN +"deliveries"."expires_at" < +CAST(?1 AS INTEGER) THEN CASE WHEN (status IN ('queued', 'delivered')) THEN 1 ELSE 0 END WHEN typeof("deliveries"."expires_at") IN ('integer', 'real') THEN NULL ELSE CASE WHEN (status IN ('queued', 'delivered')) THEN CASE WHEN "deliveries"."expires_at" IS NULL THEN 'undated' ELSE 'unreadable' END ELSE 0 END END AS v, (CASE typeof("deliveries"."id") WHEN 'text' THEN 't' || hex("deliveries"."id") ELSE quote("deliveries"."id") END || ',' || (CASE typeof("deliveries"."status") WHEN 'text' THEN 't' || hex("deliveries"."status") ELSE quote("deliveries"."status") END || ',' || CASE typeof("deliveries"."expires_at") WHEN 'text' THEN 't' || hex("deliveries"."expires_at") ELSE quote("deliveries"."expires_at") END)) AS g FROM "deliveries" INDEXED BY "idx_deliveries_active_expiry" WHERE (status IN ('queued', 'delivered') AND expires_at IS NOT NULL) AND "deliveries"."expires_at" < +CAST(?2 AS INTEGER) ORDER BY "deliveries"."expires_at", "deliveries"."id" LIMIT 1000);
--   CO-ROUTINE (subquery-1)
--     SEARCH deliveries USING INDEX idx_deliveries_active_expiry (expires_at>? AND expires_at<?)
--   SCAN (subquery-1)

