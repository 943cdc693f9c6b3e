-- rule sessions, table django_session, range mode, walk index:django_session_expire_date: index 'django_session_expire_date' is led by the age: kept rows are not read

-- boundary, 3 bound
WITH retention_edges AS MATERIALIZED (SELECT *, (SELECT "django_session"."expire_date" FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" < "retention_edges"."k0" ORDER BY "django_session"."expire_date" DESC LIMIT 1) AS upto FROM (SELECT max(k0) AS k0, k1 AS k1, sum(n) AS n, sum(gone) AS gone, sum(old) AS old, sum(unreadable) AS unreadable, n AS last_n, gone AS last_gone, old AS last_old, unreadable AS last_unreadable FROM (SELECT k0 AS k0, max(k1) AS k1, count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" < ?3 ORDER BY 1, 2 LIMIT 50000) GROUP BY k0 ORDER BY k0)) AS retention_edges) SELECT n, gone, old, unreadable, last_n, last_gone, last_old, last_unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'text' THEN hex('aa' || k1) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(upto), CASE typeof(upto) WHEN 'integer' THEN CAST(upto AS TEXT) WHEN 'text' THEN hex('aa' || upto) WHEN 'blob' THEN hex(upto) ELSE upto END FROM retention_edges;
--   MATERIALIZE retention_edges
--     CO-ROUTINE retention_edges
--       CO-ROUTINE (subquery-3)
--         CO-ROUTINE (subquery-2)
--           SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date>? AND expire_date<?)
--         SCAN (subquery-2)
--       SCAN (subquery-3)
--     SCAN retention_edges
--     CORRELATED SCALAR SUBQUERY 1
--       SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date>? AND expire_date<?)
--   SCAN retention_edges

-- delete, 3 bound
DELETE FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" <= ?3 AND (CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH django_session USING INDEX django_session_expire_date (expire_date>? AND expire_date<?)

-- boundary inside one age, 3 bound
SELECT n, gone, old, unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS k0 FROM (SELECT "django_session"."rowid" AS k0, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" = ?2 AND "django_session"."rowid" > +CAST(?3 AS INTEGER) ORDER BY 1 LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date=? AND rowid>?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete inside one age, 4 bound
DELETE FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" = ?2 AND "django_session"."rowid" > +CAST(?3 AS INTEGER) AND "django_session"."rowid" <= +CAST(?4 AS INTEGER) AND (CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH django_session USING INDEX django_session_expire_date (expire_date=? AND rowid>? AND rowid<?)

-- first boundary, 2 bound
WITH retention_edges AS MATERIALIZED (SELECT *, (SELECT "django_session"."expire_date" FROM "django_session" INDEXED BY "django_session_expire_date" WHERE 1 AND "django_session"."expire_date" < "retention_edges"."k0" ORDER BY "django_session"."expire_date" DESC LIMIT 1) AS upto FROM (SELECT max(k0) AS k0, k1 AS k1, sum(n) AS n, sum(gone) AS gone, sum(old) AS old, sum(unreadable) AS unreadable, n AS last_n, gone AS last_gone, old AS last_old, unreadable AS last_unreadable FROM (SELECT k0 AS k0, max(k1) AS k1, count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" < ?2 ORDER BY 1, 2 LIMIT 50000) GROUP BY k0 ORDER BY k0)) AS retention_edges) SELECT n, gone, old, unreadable, last_n, last_gone, last_old, last_unreadable, typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'text' THEN hex('aa' || k1) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(upto), CASE typeof(upto) WHEN 'integer' THEN CAST(upto AS TEXT) WHEN 'text' THEN hex('aa' || upto) WHEN 'blob' THEN hex(upto) ELSE upto END FROM retention_edges;
--   MATERIALIZE retention_edges
--     CO-ROUTINE retention_edges
--       CO-ROUTINE (subquery-3)
--         CO-ROUTINE (subquery-2)
--           SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date<?)
--         SCAN (subquery-2)
--       SCAN (subquery-3)
--     SCAN retention_edges
--     CORRELATED SCALAR SUBQUERY 1
--       SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date<?)
--   SCAN retention_edges

-- rule sessions, table django_session, chunk mode, walk index:django_session_expire_date: index 'django_session_expire_date' is led by the age: kept rows are not read

-- rows, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, 'integer', CAST(k1 AS TEXT), 'integer', CAST(k2 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, "django_session"."rowid" AS k2, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, (CASE typeof("django_session"."session_key") WHEN 'text' THEN 't' || hex("django_session"."session_key") ELSE quote("django_session"."session_key") END || ',' || CASE typeof("django_session"."expire_date") WHEN 'text' THEN 't' || hex("django_session"."expire_date") ELSE quote("django_session"."expire_date") END) AS g FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" < ?3 ORDER BY "django_session"."expire_date", "django_session"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH django_session USING INDEX django_session_expire_date (expire_date>? AND expire_date<?)
--   SCAN (subquery-1)

-- delete, 2 bound
DELETE FROM "django_session" NOT INDEXED WHERE "django_session"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "django_session" AS q NOT INDEXED ON "q"."rowid" = CAST(j.key AS INTEGER) WHERE (CASE typeof("q"."session_key") WHEN 'text' THEN 't' || hex("q"."session_key") ELSE quote("q"."session_key") END || ',' || CASE typeof("q"."expire_date") WHEN 'text' THEN 't' || hex("q"."expire_date") ELSE quote("q"."expire_date") END) IS j.value) AND (CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END) IS 1;
--   SEARCH django_session USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- rows inside one age, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, 'integer', CAST(k1 AS TEXT), 'integer', CAST(k2 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, "django_session"."rowid" AS k2, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, (CASE typeof("django_session"."session_key") WHEN 'text' THEN 't' || hex("django_session"."session_key") ELSE quote("django_session"."session_key") END || ',' || CASE typeof("django_session"."expire_date") WHEN 'text' THEN 't' || hex("django_session"."expire_date") ELSE quote("django_session"."expire_date") END) AS g FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" = ?2 AND "django_session"."rowid" > +CAST(?3 AS INTEGER) ORDER BY "django_session"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH django_session USING INDEX django_session_expire_date (expire_date=? AND rowid>?)
--   SCAN (subquery-1)

-- first rows, 2 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'text' THEN hex('aa' || k0) WHEN 'blob' THEN hex(k0) ELSE k0 END, 'integer', CAST(k1 AS TEXT), 'integer', CAST(k2 AS TEXT), v, CASE WHEN v IS 1 THEN g END FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, "django_session"."rowid" AS k2, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 'unreadable' END AS v, (CASE typeof("django_session"."session_key") WHEN 'text' THEN 't' || hex("django_session"."session_key") ELSE quote("django_session"."session_key") END || ',' || CASE typeof("django_session"."expire_date") WHEN 'text' THEN 't' || hex("django_session"."expire_date") ELSE quote("django_session"."expire_date") END) AS g FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" < ?2 ORDER BY "django_session"."expire_date", "django_session"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH django_session USING INDEX django_session_expire_date (expire_date<?)
--   SCAN (subquery-1)

