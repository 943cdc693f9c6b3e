-- rule axes-access, table axes_accesslog, range mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("axes_accesslog"."rowid"), CASE typeof("axes_accesslog"."rowid") WHEN 'integer' THEN CAST("axes_accesslog"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "axes_accesslog"."rowid") WHEN 'blob' THEN hex("axes_accesslog"."rowid") ELSE "axes_accesslog"."rowid" END FROM "axes_accesslog" NOT INDEXED ORDER BY "axes_accesslog"."rowid" DESC LIMIT 1;
--   SCAN axes_accesslog

-- boundary, 3 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "axes_accesslog"."rowid" AS k0, CASE CASE WHEN typeof("axes_accesslog"."attempt_time") = 'text' AND datetime(unixepoch(substr("axes_accesslog"."attempt_time", 1, 19)), 'unixepoch') IS substr("axes_accesslog"."attempt_time", 1, 19) AND (substr("axes_accesslog"."attempt_time", 20) = '' OR (substr("axes_accesslog"."attempt_time", 20) GLOB '.[0-9]*' AND substr(substr("axes_accesslog"."attempt_time", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("axes_accesslog"."attempt_time", char(0)) = 0 THEN "axes_accesslog"."attempt_time" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "axes_accesslog" NOT INDEXED WHERE "axes_accesslog"."rowid" > +CAST(?2 AS INTEGER) AND "axes_accesslog"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH axes_accesslog USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete, 3 bound
DELETE FROM "axes_accesslog" NOT INDEXED WHERE "axes_accesslog"."rowid" > +CAST(?2 AS INTEGER) AND "axes_accesslog"."rowid" <= +CAST(?3 AS INTEGER) AND (CASE CASE WHEN typeof("axes_accesslog"."attempt_time") = 'text' AND datetime(unixepoch(substr("axes_accesslog"."attempt_time", 1, 19)), 'unixepoch') IS substr("axes_accesslog"."attempt_time", 1, 19) AND (substr("axes_accesslog"."attempt_time", 20) = '' OR (substr("axes_accesslog"."attempt_time", 20) GLOB '.[0-9]*' AND substr(substr("axes_accesslog"."attempt_time", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("axes_accesslog"."attempt_time", char(0)) = 0 THEN "axes_accesslog"."attempt_time" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH axes_accesslog USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- first boundary, 2 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "axes_accesslog"."rowid" AS k0, CASE CASE WHEN typeof("axes_accesslog"."attempt_time") = 'text' AND datetime(unixepoch(substr("axes_accesslog"."attempt_time", 1, 19)), 'unixepoch') IS substr("axes_accesslog"."attempt_time", 1, 19) AND (substr("axes_accesslog"."attempt_time", 20) = '' OR (substr("axes_accesslog"."attempt_time", 20) GLOB '.[0-9]*' AND substr(substr("axes_accesslog"."attempt_time", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("axes_accesslog"."attempt_time", char(0)) = 0 THEN "axes_accesslog"."attempt_time" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "axes_accesslog" NOT INDEXED WHERE "axes_accesslog"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH axes_accesslog USING INTEGER PRIMARY KEY (rowid<?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- rule axes-access, table axes_accesslog, chunk mode, walk rowid: no whole index in time order is led by the age

-- high-water, 0 bound
SELECT typeof("axes_accesslog"."rowid"), CASE typeof("axes_accesslog"."rowid") WHEN 'integer' THEN CAST("axes_accesslog"."rowid" AS TEXT) WHEN 'text' THEN hex('aa' || "axes_accesslog"."rowid") WHEN 'blob' THEN hex("axes_accesslog"."rowid") ELSE "axes_accesslog"."rowid" END FROM "axes_accesslog" NOT INDEXED ORDER BY "axes_accesslog"."rowid" DESC LIMIT 1;
--   SCAN axes_accesslog

-- rows, 3 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "axes_accesslog"."rowid" AS k0, CASE CASE WHEN typeof("axes_accesslog"."attempt_time") = 'text' AND datetime(unixepoch(substr("axes_accesslog"."attempt_time", 1, 19)), 'unixepoch') IS substr("axes_accesslog"."attempt_time", 1, 19) AND (substr("axes_accesslog"."attempt_time", 20) = '' OR (substr("axes_accesslog"."attempt_time", 20) GLOB '.[0-9]*' AND substr(substr("axes_accesslog"."attempt_time", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("axes_accesslog"."attempt_time", char(0)) = 0 THEN "axes_accesslog"."attempt_time" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, CASE typeof("axes_accesslog"."attempt_time") WHEN 'text' THEN 't' || hex("axes_accesslog"."attempt_time") ELSE quote("axes_accesslog"."attempt_time") END AS g FROM "axes_accesslog" NOT INDEXED WHERE "axes_accesslog"."rowid" > +CAST(?2 AS INTEGER) AND "axes_accesslog"."rowid" <= +CAST(?3 AS INTEGER) ORDER BY "axes_accesslog"."rowid" LIMIT 4000);
--   SEARCH axes_accesslog USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)

-- delete, 2 bound
DELETE FROM "axes_accesslog" NOT INDEXED WHERE "axes_accesslog"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "axes_accesslog" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE CASE typeof("q"."attempt_time") WHEN 'text' THEN 't' || hex("q"."attempt_time") ELSE quote("q"."attempt_time") END IS j.value) AND (CASE CASE WHEN typeof("axes_accesslog"."attempt_time") = 'text' AND datetime(unixepoch(substr("axes_accesslog"."attempt_time", 1, 19)), 'unixepoch') IS substr("axes_accesslog"."attempt_time", 1, 19) AND (substr("axes_accesslog"."attempt_time", 20) = '' OR (substr("axes_accesslog"."attempt_time", 20) GLOB '.[0-9]*' AND substr(substr("axes_accesslog"."attempt_time", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("axes_accesslog"."attempt_time", char(0)) = 0 THEN "axes_accesslog"."attempt_time" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH axes_accesslog USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- first rows, 2 bound
SELECT 'integer', CAST(k0 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "axes_accesslog"."rowid" AS k0, CASE CASE WHEN typeof("axes_accesslog"."attempt_time") = 'text' AND datetime(unixepoch(substr("axes_accesslog"."attempt_time", 1, 19)), 'unixepoch') IS substr("axes_accesslog"."attempt_time", 1, 19) AND (substr("axes_accesslog"."attempt_time", 20) = '' OR (substr("axes_accesslog"."attempt_time", 20) GLOB '.[0-9]*' AND substr(substr("axes_accesslog"."attempt_time", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("axes_accesslog"."attempt_time", char(0)) = 0 THEN "axes_accesslog"."attempt_time" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, CASE typeof("axes_accesslog"."attempt_time") WHEN 'text' THEN 't' || hex("axes_accesslog"."attempt_time") ELSE quote("axes_accesslog"."attempt_time") END AS g FROM "axes_accesslog" NOT INDEXED WHERE "axes_accesslog"."rowid" <= +CAST(?2 AS INTEGER) ORDER BY "axes_accesslog"."rowid" LIMIT 4000);
--   SEARCH axes_accesslog USING INTEGER PRIMARY KEY (rowid<?)

