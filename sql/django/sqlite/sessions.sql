-- rule sessions, table django_session, range mode, walk index:django_session_expire_date: index 'django_session_expire_date' is led by the age: kept rows are not read

-- boundary, 3 bound
WITH groups AS MATERIALIZED (SELECT k0, count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "django_session"."expire_date" AS k0, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" < ?3 ORDER BY "django_session"."expire_date" LIMIT 50000) GROUP BY k0) SELECT n, last_n, gone, last_gone, old, last_old, undated, last_undated, unreadable, last_unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(upto), CASE typeof(upto) WHEN 'integer' THEN CAST(upto AS TEXT) WHEN 'blob' THEN hex(upto) ELSE upto END FROM (SELECT max(k0) AS last, sum(n) AS n, n AS last_n, sum(gone) AS gone, gone AS last_gone, sum(old) AS old, old AS last_old, sum(undated) AS undated, undated AS last_undated, sum(unreadable) AS unreadable, unreadable AS last_unreadable, (SELECT max(k0) FROM groups WHERE k0 < (SELECT max(k0) FROM groups)) AS upto FROM groups);
--   CO-ROUTINE (subquery-5)
--     MATERIALIZE groups
--       CO-ROUTINE (subquery-1)
--         SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date>? AND expire_date<?)
--       SCAN (subquery-1)
--     SCAN groups
--     SCALAR SUBQUERY 4
--       SEARCH groups
--       SCALAR SUBQUERY 3
--         SEARCH groups
--   SCAN (subquery-5)

-- delete, 3 bound
DELETE FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" <= ?3 AND (CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH django_session USING INDEX django_session_expire_date (expire_date>? AND expire_date<?)

-- boundary inside one age, 3 bound
SELECT n, gone, old, undated, unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS last, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "django_session"."rowid" AS k0, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" = ?2 AND "django_session"."rowid" > +CAST(?3 AS INTEGER) ORDER BY "django_session"."rowid" LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date=? AND rowid>?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete inside one age, 4 bound
DELETE FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" = ?2 AND "django_session"."rowid" > +CAST(?3 AS INTEGER) AND "django_session"."rowid" <= +CAST(?4 AS INTEGER) AND (CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH django_session USING INDEX django_session_expire_date (expire_date=? AND rowid>? AND rowid<?)

-- first boundary, 2 bound
WITH groups AS MATERIALIZED (SELECT k0, count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "django_session"."expire_date" AS k0, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" < ?2 ORDER BY "django_session"."expire_date" LIMIT 50000) GROUP BY k0) SELECT n, last_n, gone, last_gone, old, last_old, undated, last_undated, unreadable, last_unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(upto), CASE typeof(upto) WHEN 'integer' THEN CAST(upto AS TEXT) WHEN 'blob' THEN hex(upto) ELSE upto END FROM (SELECT max(k0) AS last, sum(n) AS n, n AS last_n, sum(gone) AS gone, gone AS last_gone, sum(old) AS old, old AS last_old, sum(undated) AS undated, undated AS last_undated, sum(unreadable) AS unreadable, unreadable AS last_unreadable, (SELECT max(k0) FROM groups WHERE k0 < (SELECT max(k0) FROM groups)) AS upto FROM groups);
--   CO-ROUTINE (subquery-5)
--     MATERIALIZE groups
--       CO-ROUTINE (subquery-1)
--         SEARCH django_session USING COVERING INDEX django_session_expire_date (expire_date<?)
--       SCAN (subquery-1)
--     SCAN groups
--     SCALAR SUBQUERY 4
--       SEARCH groups
--       SCALAR SUBQUERY 3
--         SEARCH groups
--   SCAN (subquery-5)

-- rule sessions, table django_session, chunk mode, walk index:django_session_expire_date: index 'django_session_expire_date' is led by the age: kept rows are not read

-- rows, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(k2), CASE typeof(k2) WHEN 'integer' THEN CAST(k2 AS TEXT) WHEN 'blob' THEN hex(k2) ELSE k2 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, "django_session"."rowid" AS k2, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, (quote("django_session"."session_key") || ',' || quote("django_session"."expire_date")) AS g FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" > ?2 AND "django_session"."expire_date" < ?3 ORDER BY "django_session"."expire_date" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH django_session USING INDEX django_session_expire_date (expire_date>? AND expire_date<?)
--   SCAN (subquery-1)

-- delete, 2 bound
DELETE FROM "django_session" NOT INDEXED WHERE "django_session"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "django_session" AS q NOT INDEXED ON "q"."rowid" = CASE json_type(j.value, '$[0]') WHEN 'object' THEN unhex(json_extract(j.value, '$[0].blob')) ELSE json_extract(j.value, '$[0]') END WHERE (quote("q"."session_key") || ',' || quote("q"."expire_date")) IS json_extract(j.value, '$[1]')) AND (CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH django_session USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- rows inside one age, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(k2), CASE typeof(k2) WHEN 'integer' THEN CAST(k2 AS TEXT) WHEN 'blob' THEN hex(k2) ELSE k2 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, "django_session"."rowid" AS k2, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, (quote("django_session"."session_key") || ',' || quote("django_session"."expire_date")) AS g FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" = ?2 AND "django_session"."rowid" > +CAST(?3 AS INTEGER) ORDER BY "django_session"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH django_session USING INDEX django_session_expire_date (expire_date=? AND rowid>?)
--   SCAN (subquery-1)

-- first rows, 2 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(k2), CASE typeof(k2) WHEN 'integer' THEN CAST(k2 AS TEXT) WHEN 'blob' THEN hex(k2) ELSE k2 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "django_session"."expire_date" AS k0, "django_session"."rowid" AS k1, "django_session"."rowid" AS k2, CASE CASE WHEN typeof("django_session"."expire_date") = 'text' AND datetime(unixepoch(substr("django_session"."expire_date", 1, 19)), 'unixepoch') IS substr("django_session"."expire_date", 1, 19) AND (substr("django_session"."expire_date", 20) = '' OR (substr("django_session"."expire_date", 20) GLOB '.[0-9]*' AND substr(substr("django_session"."expire_date", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("django_session"."expire_date", char(0)) = 0 THEN "django_session"."expire_date" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "django_session"."expire_date" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, (quote("django_session"."session_key") || ',' || quote("django_session"."expire_date")) AS g FROM "django_session" INDEXED BY "django_session_expire_date" WHERE "django_session"."expire_date" < ?2 ORDER BY "django_session"."expire_date" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH django_session USING INDEX django_session_expire_date (expire_date<?)
--   SCAN (subquery-1)

