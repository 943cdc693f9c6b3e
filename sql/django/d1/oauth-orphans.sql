-- rule oauth-orphans, table oauth2_provider_refreshtoken, range mode, walk rowid: the rule has no age

-- high-water, 0 bound
SELECT typeof("oauth2_provider_refreshtoken"."rowid"), CASE typeof("oauth2_provider_refreshtoken"."rowid") WHEN 'integer' THEN CAST("oauth2_provider_refreshtoken"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "oauth2_provider_refreshtoken"."rowid") WHEN 'blob' THEN hex("oauth2_provider_refreshtoken"."rowid") ELSE "oauth2_provider_refreshtoken"."rowid" END FROM "oauth2_provider_refreshtoken" NOT INDEXED ORDER BY "oauth2_provider_refreshtoken"."rowid" DESC LIMIT 1;
--   SCAN oauth2_provider_refreshtoken

-- boundary, 2 bound
SELECT n, gone, old, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END AS v FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" > +CAST(?1 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- delete, 2 bound
DELETE FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" > +CAST(?1 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?2 AS INTEGER) AND (CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END) IS 1;
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- first boundary, 1 bound
SELECT n, gone, old, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END AS v FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" <= +CAST(?1 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- delete between the rows that the boundary saw, 2 bound
DELETE FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" >= +CAST(?1 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?2 AS INTEGER) AND (CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END) IS 1;
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- rule oauth-orphans, table oauth2_provider_refreshtoken, chunk mode, walk rowid: the rule has no age

-- high-water, 0 bound
SELECT typeof("oauth2_provider_refreshtoken"."rowid"), CASE typeof("oauth2_provider_refreshtoken"."rowid") WHEN 'integer' THEN CAST("oauth2_provider_refreshtoken"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "oauth2_provider_refreshtoken"."rowid") WHEN 'blob' THEN hex("oauth2_provider_refreshtoken"."rowid") ELSE "oauth2_provider_refreshtoken"."rowid" END FROM "oauth2_provider_refreshtoken" NOT INDEXED ORDER BY "oauth2_provider_refreshtoken"."rowid" DESC LIMIT 1;
--   SCAN oauth2_provider_refreshtoken

-- rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END AS v, (CASE typeof("oauth2_provider_refreshtoken"."access_token_id") WHEN 'text' THEN 't' || hex("oauth2_provider_refreshtoken"."access_token_id") ELSE quote("oauth2_provider_refreshtoken"."access_token_id") END || ',' || CASE typeof("oauth2_provider_refreshtoken"."revoked") WHEN 'text' THEN 't' || hex("oauth2_provider_refreshtoken"."revoked") ELSE quote("oauth2_provider_refreshtoken"."revoked") END) AS g FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" > +CAST(?1 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "oauth2_provider_refreshtoken"."rowid" LIMIT 4000);
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- delete, 1 bound
DELETE FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" IN (SELECT "q"."rowid" FROM json_each(?1) AS j CROSS JOIN "oauth2_provider_refreshtoken" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."access_token_id") WHEN 'text' THEN 't' || hex("q"."access_token_id") ELSE quote("q"."access_token_id") END || ',' || CASE typeof("q"."revoked") WHEN 'text' THEN 't' || hex("q"."revoked") ELSE quote("q"."revoked") END) IS j.value) AND (CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END) IS 1;
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- first rows, 1 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE WHEN (revoked IS NULL AND access_token_id IS NULL) THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE 0 END AS v, (CASE typeof("oauth2_provider_refreshtoken"."access_token_id") WHEN 'text' THEN 't' || hex("oauth2_provider_refreshtoken"."access_token_id") ELSE quote("oauth2_provider_refreshtoken"."access_token_id") END || ',' || CASE typeof("oauth2_provider_refreshtoken"."revoked") WHEN 'text' THEN 't' || hex("oauth2_provider_refreshtoken"."revoked") ELSE quote("oauth2_provider_refreshtoken"."revoked") END) AS g FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" <= +CAST(?1 AS INTEGER) ORDER BY "oauth2_provider_refreshtoken"."rowid" LIMIT 4000);
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

