-- rule jwt-outstanding, table token_blacklist_outstandingtoken, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("token_blacklist_outstandingtoken"."rowid"), CASE typeof("token_blacklist_outstandingtoken"."rowid") WHEN 'integer' THEN CAST("token_blacklist_outstandingtoken"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "token_blacklist_outstandingtoken"."rowid") WHEN 'blob' THEN hex("token_blacklist_outstandingtoken"."rowid") ELSE "token_blacklist_outstandingtoken"."rowid" END FROM "token_blacklist_outstandingtoken" NOT INDEXED ORDER BY "token_blacklist_outstandingtoken"."rowid" DESC LIMIT 1;
--   SCAN token_blacklist_outstandingtoken

-- boundary, 3 bound
SELECT n, gone, old, unreadable, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0 FROM (SELECT "token_blacklist_outstandingtoken"."rowid" AS k0, CASE CASE WHEN typeof("token_blacklist_outstandingtoken"."expires_at") = 'text' AND datetime(unixepoch(substr("token_blacklist_outstandingtoken"."expires_at", 1, 19)), 'unixepoch') IS substr("token_blacklist_outstandingtoken"."expires_at", 1, 19) AND (substr("token_blacklist_outstandingtoken"."expires_at", 20) = '' OR (substr("token_blacklist_outstandingtoken"."expires_at", 20) GLOB '.[0-9]*' AND substr(substr("token_blacklist_outstandingtoken"."expires_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("token_blacklist_outstandingtoken"."expires_at", char(0)) = 0 THEN "token_blacklist_outstandingtoken"."expires_at" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "token_blacklist_blacklistedtoken" WHERE "token_blacklist_outstandingtoken"."id" = "token_blacklist_blacklistedtoken"."token_id") THEN 'referenced' ELSE 1 END ELSE 'unreadable' END AS v FROM "token_blacklist_outstandingtoken" NOT INDEXED WHERE "token_blacklist_outstandingtoken"."rowid" > +CAST(?2 AS INTEGER) AND "token_blacklist_outstandingtoken"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH token_blacklist_outstandingtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- delete, 3 bound
DELETE FROM "token_blacklist_outstandingtoken" NOT INDEXED WHERE "token_blacklist_outstandingtoken"."rowid" > +CAST(?2 AS INTEGER) AND "token_blacklist_outstandingtoken"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("token_blacklist_outstandingtoken"."expires_at") = 'text' AND datetime(unixepoch(substr("token_blacklist_outstandingtoken"."expires_at", 1, 19)), 'unixepoch') IS substr("token_blacklist_outstandingtoken"."expires_at", 1, 19) AND (substr("token_blacklist_outstandingtoken"."expires_at", 20) = '' OR (substr("token_blacklist_outstandingtoken"."expires_at", 20) GLOB '.[0-9]*' AND substr(substr("token_blacklist_outstandingtoken"."expires_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("token_blacklist_outstandingtoken"."expires_at", char(0)) = 0 THEN "token_blacklist_outstandingtoken"."expires_at" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "token_blacklist_blacklistedtoken" WHERE "token_blacklist_outstandingtoken"."id" = "token_blacklist_blacklistedtoken"."token_id") THEN 'referenced' ELSE 1 END ELSE 'unreadable' END) IS 1;
--   SEARCH token_blacklist_outstandingtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)
--   SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)

-- first boundary, 2 bound
SELECT n, gone, old, unreadable, referenced, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, count(*) FILTER (WHERE v IS 'referenced') AS referenced, max(k0) AS k0 FROM (SELECT "token_blacklist_outstandingtoken"."rowid" AS k0, CASE CASE WHEN typeof("token_blacklist_outstandingtoken"."expires_at") = 'text' AND datetime(unixepoch(substr("token_blacklist_outstandingtoken"."expires_at", 1, 19)), 'unixepoch') IS substr("token_blacklist_outstandingtoken"."expires_at", 1, 19) AND (substr("token_blacklist_outstandingtoken"."expires_at", 20) = '' OR (substr("token_blacklist_outstandingtoken"."expires_at", 20) GLOB '.[0-9]*' AND substr(substr("token_blacklist_outstandingtoken"."expires_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("token_blacklist_outstandingtoken"."expires_at", char(0)) = 0 THEN "token_blacklist_outstandingtoken"."expires_at" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "token_blacklist_blacklistedtoken" WHERE "token_blacklist_outstandingtoken"."id" = "token_blacklist_blacklistedtoken"."token_id") THEN 'referenced' ELSE 1 END ELSE 'unreadable' END AS v FROM "token_blacklist_outstandingtoken" NOT INDEXED WHERE "token_blacklist_outstandingtoken"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-3)
--     CO-ROUTINE (subquery-2)
--       SEARCH token_blacklist_outstandingtoken USING INTEGER PRIMARY KEY (rowid<?)
--       CORRELATED SCALAR SUBQUERY 1
--         SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)
--     SCAN (subquery-2)
--   SCAN (subquery-3)

-- rule jwt-outstanding, table token_blacklist_outstandingtoken, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("token_blacklist_outstandingtoken"."rowid"), CASE typeof("token_blacklist_outstandingtoken"."rowid") WHEN 'integer' THEN CAST("token_blacklist_outstandingtoken"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "token_blacklist_outstandingtoken"."rowid") WHEN 'blob' THEN hex("token_blacklist_outstandingtoken"."rowid") ELSE "token_blacklist_outstandingtoken"."rowid" END FROM "token_blacklist_outstandingtoken" NOT INDEXED ORDER BY "token_blacklist_outstandingtoken"."rowid" DESC LIMIT 1;
--   SCAN token_blacklist_outstandingtoken

-- rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "token_blacklist_outstandingtoken"."rowid" AS k0, CASE CASE WHEN typeof("token_blacklist_outstandingtoken"."expires_at") = 'text' AND datetime(unixepoch(substr("token_blacklist_outstandingtoken"."expires_at", 1, 19)), 'unixepoch') IS substr("token_blacklist_outstandingtoken"."expires_at", 1, 19) AND (substr("token_blacklist_outstandingtoken"."expires_at", 20) = '' OR (substr("token_blacklist_outstandingtoken"."expires_at", 20) GLOB '.[0-9]*' AND substr(substr("token_blacklist_outstandingtoken"."expires_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("token_blacklist_outstandingtoken"."expires_at", char(0)) = 0 THEN "token_blacklist_outstandingtoken"."expires_at" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "token_blacklist_blacklistedtoken" WHERE "token_blacklist_outstandingtoken"."id" = "token_blacklist_blacklistedtoken"."token_id") THEN 'referenced' ELSE 1 END ELSE 'unreadable' END AS v, CASE typeof("token_blacklist_outstandingtoken"."expires_at") WHEN 'text' THEN 't' || hex("token_blacklist_outstandingtoken"."expires_at") ELSE quote("token_blacklist_outstandingtoken"."expires_at") END AS g FROM "token_blacklist_outstandingtoken" NOT INDEXED WHERE "token_blacklist_outstandingtoken"."rowid" > +CAST(?2 AS INTEGER) AND "token_blacklist_outstandingtoken"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "token_blacklist_outstandingtoken"."rowid" LIMIT 4000);
--   SEARCH token_blacklist_outstandingtoken USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)

-- delete, 2 bound
DELETE FROM "token_blacklist_outstandingtoken" NOT INDEXED WHERE "token_blacklist_outstandingtoken"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "token_blacklist_outstandingtoken" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE CASE typeof("q"."expires_at") WHEN 'text' THEN 't' || hex("q"."expires_at") ELSE quote("q"."expires_at") END IS j.value) AND (CASE CASE WHEN typeof("token_blacklist_outstandingtoken"."expires_at") = 'text' AND datetime(unixepoch(substr("token_blacklist_outstandingtoken"."expires_at", 1, 19)), 'unixepoch') IS substr("token_blacklist_outstandingtoken"."expires_at", 1, 19) AND (substr("token_blacklist_outstandingtoken"."expires_at", 20) = '' OR (substr("token_blacklist_outstandingtoken"."expires_at", 20) GLOB '.[0-9]*' AND substr(substr("token_blacklist_outstandingtoken"."expires_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("token_blacklist_outstandingtoken"."expires_at", char(0)) = 0 THEN "token_blacklist_outstandingtoken"."expires_at" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "token_blacklist_blacklistedtoken" WHERE "token_blacklist_outstandingtoken"."id" = "token_blacklist_blacklistedtoken"."token_id") THEN 'referenced' ELSE 1 END ELSE 'unreadable' END) IS 1;
--   SEARCH token_blacklist_outstandingtoken USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)
--   CORRELATED SCALAR SUBQUERY 2
--     SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)
--   SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)

-- first rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "token_blacklist_outstandingtoken"."rowid" AS k0, CASE CASE WHEN typeof("token_blacklist_outstandingtoken"."expires_at") = 'text' AND datetime(unixepoch(substr("token_blacklist_outstandingtoken"."expires_at", 1, 19)), 'unixepoch') IS substr("token_blacklist_outstandingtoken"."expires_at", 1, 19) AND (substr("token_blacklist_outstandingtoken"."expires_at", 20) = '' OR (substr("token_blacklist_outstandingtoken"."expires_at", 20) GLOB '.[0-9]*' AND substr(substr("token_blacklist_outstandingtoken"."expires_at", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("token_blacklist_outstandingtoken"."expires_at", char(0)) = 0 THEN "token_blacklist_outstandingtoken"."expires_at" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN EXISTS (SELECT 1 FROM "token_blacklist_blacklistedtoken" WHERE "token_blacklist_outstandingtoken"."id" = "token_blacklist_blacklistedtoken"."token_id") THEN 'referenced' ELSE 1 END ELSE 'unreadable' END AS v, CASE typeof("token_blacklist_outstandingtoken"."expires_at") WHEN 'text' THEN 't' || hex("token_blacklist_outstandingtoken"."expires_at") ELSE quote("token_blacklist_outstandingtoken"."expires_at") END AS g FROM "token_blacklist_outstandingtoken" NOT INDEXED WHERE "token_blacklist_outstandingtoken"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "token_blacklist_outstandingtoken"."rowid" LIMIT 4000);
--   SEARCH token_blacklist_outstandingtoken USING INTEGER PRIMARY KEY (rowid<?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)
--   CORRELATED SCALAR SUBQUERY 1
--     SEARCH token_blacklist_blacklistedtoken USING COVERING INDEX sqlite_autoindex_token_blacklist_blacklistedtoken_1 (token_id=?)

