-- rule oauth-revoked, table oauth2_provider_refreshtoken, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("oauth2_provider_refreshtoken"."rowid"), CASE typeof("oauth2_provider_refreshtoken"."rowid") WHEN 'integer' THEN CAST("oauth2_provider_refreshtoken"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "oauth2_provider_refreshtoken"."rowid") WHEN 'blob' THEN hex("oauth2_provider_refreshtoken"."rowid") ELSE "oauth2_provider_refreshtoken"."rowid" END FROM "oauth2_provider_refreshtoken" NOT INDEXED ORDER BY "oauth2_provider_refreshtoken"."rowid" DESC LIMIT 1;
--   SCAN oauth2_provider_refreshtoken

-- boundary, 3 bound
SELECT n, gone, old, undated, unreadable, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0 FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_refreshtoken"."revoked") = 'text' AND datetime(unixepoch(substr("oauth2_provider_refreshtoken"."revoked", 1, 19)), 'unixepoch') IS substr("oauth2_provider_refreshtoken"."revoked", 1, 19) AND (substr("oauth2_provider_refreshtoken"."revoked", 20) = '' OR (substr("oauth2_provider_refreshtoken"."revoked", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_refreshtoken"."revoked", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_refreshtoken"."revoked", char(0)) = 0 THEN "oauth2_provider_refreshtoken"."revoked" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE CASE WHEN "oauth2_provider_refreshtoken"."revoked" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" > +CAST(?2 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- delete, 3 bound
DELETE FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" > +CAST(?2 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("oauth2_provider_refreshtoken"."revoked") = 'text' AND datetime(unixepoch(substr("oauth2_provider_refreshtoken"."revoked", 1, 19)), 'unixepoch') IS substr("oauth2_provider_refreshtoken"."revoked", 1, 19) AND (substr("oauth2_provider_refreshtoken"."revoked", 20) = '' OR (substr("oauth2_provider_refreshtoken"."revoked", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_refreshtoken"."revoked", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_refreshtoken"."revoked", char(0)) = 0 THEN "oauth2_provider_refreshtoken"."revoked" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE CASE WHEN "oauth2_provider_refreshtoken"."revoked" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- first boundary, 2 bound
SELECT n, gone, old, undated, unreadable, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0 FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_refreshtoken"."revoked") = 'text' AND datetime(unixepoch(substr("oauth2_provider_refreshtoken"."revoked", 1, 19)), 'unixepoch') IS substr("oauth2_provider_refreshtoken"."revoked", 1, 19) AND (substr("oauth2_provider_refreshtoken"."revoked", 20) = '' OR (substr("oauth2_provider_refreshtoken"."revoked", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_refreshtoken"."revoked", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_refreshtoken"."revoked", char(0)) = 0 THEN "oauth2_provider_refreshtoken"."revoked" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE CASE WHEN "oauth2_provider_refreshtoken"."revoked" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- rule oauth-revoked, table oauth2_provider_refreshtoken, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("oauth2_provider_refreshtoken"."rowid"), CASE typeof("oauth2_provider_refreshtoken"."rowid") WHEN 'integer' THEN CAST("oauth2_provider_refreshtoken"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "oauth2_provider_refreshtoken"."rowid") WHEN 'blob' THEN hex("oauth2_provider_refreshtoken"."rowid") ELSE "oauth2_provider_refreshtoken"."rowid" END FROM "oauth2_provider_refreshtoken" NOT INDEXED ORDER BY "oauth2_provider_refreshtoken"."rowid" DESC LIMIT 1;
--   SCAN oauth2_provider_refreshtoken

-- rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_refreshtoken"."revoked") = 'text' AND datetime(unixepoch(substr("oauth2_provider_refreshtoken"."revoked", 1, 19)), 'unixepoch') IS substr("oauth2_provider_refreshtoken"."revoked", 1, 19) AND (substr("oauth2_provider_refreshtoken"."revoked", 20) = '' OR (substr("oauth2_provider_refreshtoken"."revoked", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_refreshtoken"."revoked", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_refreshtoken"."revoked", char(0)) = 0 THEN "oauth2_provider_refreshtoken"."revoked" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE CASE WHEN "oauth2_provider_refreshtoken"."revoked" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, CASE typeof("oauth2_provider_refreshtoken"."revoked") WHEN 'text' THEN 't' || hex("oauth2_provider_refreshtoken"."revoked") ELSE quote("oauth2_provider_refreshtoken"."revoked") END AS g FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" > +CAST(?2 AS INTEGER) AND "oauth2_provider_refreshtoken"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "oauth2_provider_refreshtoken"."rowid" LIMIT 4000);
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- delete, 2 bound
DELETE FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "oauth2_provider_refreshtoken" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE CASE typeof("q"."revoked") WHEN 'text' THEN 't' || hex("q"."revoked") ELSE quote("q"."revoked") END IS j.value) AND (CASE CASE WHEN typeof("oauth2_provider_refreshtoken"."revoked") = 'text' AND datetime(unixepoch(substr("oauth2_provider_refreshtoken"."revoked", 1, 19)), 'unixepoch') IS substr("oauth2_provider_refreshtoken"."revoked", 1, 19) AND (substr("oauth2_provider_refreshtoken"."revoked", 20) = '' OR (substr("oauth2_provider_refreshtoken"."revoked", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_refreshtoken"."revoked", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_refreshtoken"."revoked", char(0)) = 0 THEN "oauth2_provider_refreshtoken"."revoked" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE CASE WHEN "oauth2_provider_refreshtoken"."revoked" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

-- first rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "oauth2_provider_refreshtoken"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_refreshtoken"."revoked") = 'text' AND datetime(unixepoch(substr("oauth2_provider_refreshtoken"."revoked", 1, 19)), 'unixepoch') IS substr("oauth2_provider_refreshtoken"."revoked", 1, 19) AND (substr("oauth2_provider_refreshtoken"."revoked", 20) = '' OR (substr("oauth2_provider_refreshtoken"."revoked", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_refreshtoken"."revoked", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_refreshtoken"."revoked", char(0)) = 0 THEN "oauth2_provider_refreshtoken"."revoked" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "oauth2_provider_accesstoken" WHERE "oauth2_provider_refreshtoken"."id" = "oauth2_provider_accesstoken"."source_refresh_token_id") THEN 'referenced' ELSE 1 END ELSE CASE WHEN "oauth2_provider_refreshtoken"."revoked" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, CASE typeof("oauth2_provider_refreshtoken"."revoked") WHEN 'text' THEN 't' || hex("oauth2_provider_refreshtoken"."revoked") ELSE quote("oauth2_provider_refreshtoken"."revoked") END AS g FROM "oauth2_provider_refreshtoken" NOT INDEXED WHERE "oauth2_provider_refreshtoken"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "oauth2_provider_refreshtoken"."rowid" LIMIT 4000);
--   SEARCH oauth2_provider_refreshtoken USING INTEGER PRIMARY KEY (rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH oauth2_provider_accesstoken USING COVERING INDEX sqlite_autoindex_oauth2_provider_accesstoken_2 (source_refresh_token_id=?)

