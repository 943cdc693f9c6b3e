-- rule oauth-grants, table oauth2_provider_grant, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("oauth2_provider_grant"."rowid"), CASE typeof("oauth2_provider_grant"."rowid") WHEN 'integer' THEN CAST("oauth2_provider_grant"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "oauth2_provider_grant"."rowid") WHEN 'blob' THEN hex("oauth2_provider_grant"."rowid") ELSE "oauth2_provider_grant"."rowid" END FROM "oauth2_provider_grant" NOT INDEXED ORDER BY "oauth2_provider_grant"."rowid" DESC LIMIT 1;
--   SCAN oauth2_provider_grant

-- boundary, 3 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "oauth2_provider_grant"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" > +CAST(?2 AS INTEGER) AND "oauth2_provider_grant"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete, 3 bound
DELETE FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" > +CAST(?2 AS INTEGER) AND "oauth2_provider_grant"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- first boundary, 2 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'text' THEN hex('aa' || a) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'text' THEN hex('aa' || b) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "oauth2_provider_grant"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete between the rows that the boundary saw, 3 bound
DELETE FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" >= +CAST(?2 AS INTEGER) AND "oauth2_provider_grant"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- rule oauth-grants, table oauth2_provider_grant, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("oauth2_provider_grant"."rowid"), CASE typeof("oauth2_provider_grant"."rowid") WHEN 'integer' THEN CAST("oauth2_provider_grant"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "oauth2_provider_grant"."rowid") WHEN 'blob' THEN hex("oauth2_provider_grant"."rowid") ELSE "oauth2_provider_grant"."rowid" END FROM "oauth2_provider_grant" NOT INDEXED ORDER BY "oauth2_provider_grant"."rowid" DESC LIMIT 1;
--   SCAN oauth2_provider_grant

-- rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "oauth2_provider_grant"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, CASE typeof("oauth2_provider_grant"."expires") WHEN 'text' THEN 't' || hex("oauth2_provider_grant"."expires") ELSE quote("oauth2_provider_grant"."expires") END AS g FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" > +CAST(?2 AS INTEGER) AND "oauth2_provider_grant"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "oauth2_provider_grant"."rowid" LIMIT 4000);
--   SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- delete, 2 bound
DELETE FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "oauth2_provider_grant" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE CASE typeof("q"."expires") WHEN 'text' THEN 't' || hex("q"."expires") ELSE quote("q"."expires") END IS j.value) AND (CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- first rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "oauth2_provider_grant"."rowid" AS k0, CASE CASE WHEN typeof("oauth2_provider_grant"."expires") = 'text' AND datetime(unixepoch(substr("oauth2_provider_grant"."expires", 1, 19)), 'unixepoch') IS substr("oauth2_provider_grant"."expires", 1, 19) AND (substr("oauth2_provider_grant"."expires", 20) = '' OR (substr("oauth2_provider_grant"."expires", 20) GLOB '.[0-9]*' AND substr(substr("oauth2_provider_grant"."expires", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("oauth2_provider_grant"."expires", char(0)) = 0 THEN "oauth2_provider_grant"."expires" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, CASE typeof("oauth2_provider_grant"."expires") WHEN 'text' THEN 't' || hex("oauth2_provider_grant"."expires") ELSE quote("oauth2_provider_grant"."expires") END AS g FROM "oauth2_provider_grant" NOT INDEXED WHERE "oauth2_provider_grant"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "oauth2_provider_grant"."rowid" LIMIT 4000);
--   SEARCH oauth2_provider_grant USING INTEGER PRIMARY KEY (rowid<?)

