-- rule celery_taskmeta, table celery_taskmeta, range mode, walk index:ix_celery_taskmeta_date_done: index 'ix_celery_taskmeta_date_done' is led by the age: kept rows are not read

-- boundary, 3 bound
WITH groups AS MATERIALIZED (SELECT k0, count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "celery_taskmeta"."date_done" AS k0, CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" > ?2 AND "celery_taskmeta"."date_done" < ?3 ORDER BY "celery_taskmeta"."date_done" LIMIT 50000) GROUP BY k0) SELECT n, last_n, gone, last_gone, old, last_old, undated, last_undated, unreadable, last_unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(upto), CASE typeof(upto) WHEN 'integer' THEN CAST(upto AS TEXT) WHEN 'blob' THEN hex(upto) ELSE upto END FROM (SELECT max(k0) AS last, sum(n) AS n, n AS last_n, sum(gone) AS gone, gone AS last_gone, sum(old) AS old, old AS last_old, sum(undated) AS undated, undated AS last_undated, sum(unreadable) AS unreadable, unreadable AS last_unreadable, (SELECT max(k0) FROM groups WHERE k0 < (SELECT max(k0) FROM groups)) AS upto FROM groups);
--   CO-ROUTINE (subquery-5)
--     MATERIALIZE groups
--       CO-ROUTINE (subquery-1)
--         SEARCH celery_taskmeta USING COVERING INDEX ix_celery_taskmeta_date_done (date_done>? AND date_done<?)
--       SCAN (subquery-1)
--     SCAN groups
--     SCALAR SUBQUERY 4
--       SEARCH groups
--       SCALAR SUBQUERY 3
--         SEARCH groups
--   SCAN (subquery-5)

-- delete, 3 bound
DELETE FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" > ?2 AND "celery_taskmeta"."date_done" <= ?3 AND (CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH celery_taskmeta USING INDEX ix_celery_taskmeta_date_done (date_done>? AND date_done<?)

-- boundary inside one age, 3 bound
SELECT n, gone, old, undated, unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(a), CASE typeof(a) WHEN 'integer' THEN CAST(a AS TEXT) WHEN 'blob' THEN hex(a) ELSE a END, typeof(b), CASE typeof(b) WHEN 'integer' THEN CAST(b AS TEXT) WHEN 'blob' THEN hex(b) ELSE b END FROM (SELECT count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable, max(k0) AS last, min(k0) FILTER (WHERE v IS 1) AS a, max(k0) FILTER (WHERE v IS 1) AS b FROM (SELECT "celery_taskmeta"."rowid" AS k0, CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" = ?2 AND "celery_taskmeta"."rowid" > +CAST(?3 AS INTEGER) ORDER BY "celery_taskmeta"."rowid" LIMIT 50000));
--   CO-ROUTINE (subquery-2)
--     CO-ROUTINE (subquery-1)
--       SEARCH celery_taskmeta USING COVERING INDEX ix_celery_taskmeta_date_done (date_done=? AND rowid>?)
--     SCAN (subquery-1)
--   SCAN (subquery-2)

-- delete inside one age, 4 bound
DELETE FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" = ?2 AND "celery_taskmeta"."rowid" > +CAST(?3 AS INTEGER) AND "celery_taskmeta"."rowid" <= +CAST(?4 AS INTEGER) AND (CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH celery_taskmeta USING INDEX ix_celery_taskmeta_date_done (date_done=? AND rowid>? AND rowid<?)

-- first boundary, 2 bound
WITH groups AS MATERIALIZED (SELECT k0, count(*) AS n, count(*) FILTER (WHERE v IS 1) AS gone, count(v) AS old, count(*) FILTER (WHERE v IS 'undated') AS undated, count(*) FILTER (WHERE v IS 'unreadable') AS unreadable FROM (SELECT "celery_taskmeta"."date_done" AS k0, CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" < ?2 ORDER BY "celery_taskmeta"."date_done" LIMIT 50000) GROUP BY k0) SELECT n, last_n, gone, last_gone, old, last_old, undated, last_undated, unreadable, last_unreadable, typeof(last), CASE typeof(last) WHEN 'integer' THEN CAST(last AS TEXT) WHEN 'blob' THEN hex(last) ELSE last END, typeof(upto), CASE typeof(upto) WHEN 'integer' THEN CAST(upto AS TEXT) WHEN 'blob' THEN hex(upto) ELSE upto END FROM (SELECT max(k0) AS last, sum(n) AS n, n AS last_n, sum(gone) AS gone, gone AS last_gone, sum(old) AS old, old AS last_old, sum(undated) AS undated, undated AS last_undated, sum(unreadable) AS unreadable, unreadable AS last_unreadable, (SELECT max(k0) FROM groups WHERE k0 < (SELECT max(k0) FROM groups)) AS upto FROM groups);
--   CO-ROUTINE (subquery-5)
--     MATERIALIZE groups
--       CO-ROUTINE (subquery-1)
--         SEARCH celery_taskmeta USING COVERING INDEX ix_celery_taskmeta_date_done (date_done<?)
--       SCAN (subquery-1)
--     SCAN groups
--     SCALAR SUBQUERY 4
--       SEARCH groups
--       SCALAR SUBQUERY 3
--         SEARCH groups
--   SCAN (subquery-5)

-- rule celery_taskmeta, table celery_taskmeta, chunk mode, walk index:ix_celery_taskmeta_date_done: index 'ix_celery_taskmeta_date_done' is led by the age: kept rows are not read

-- rows, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(k2), CASE typeof(k2) WHEN 'integer' THEN CAST(k2 AS TEXT) WHEN 'blob' THEN hex(k2) ELSE k2 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "celery_taskmeta"."date_done" AS k0, "celery_taskmeta"."rowid" AS k1, "celery_taskmeta"."rowid" AS k2, CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, (quote("celery_taskmeta"."id") || ',' || quote("celery_taskmeta"."date_done")) AS g FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" > ?2 AND "celery_taskmeta"."date_done" < ?3 ORDER BY "celery_taskmeta"."date_done" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH celery_taskmeta USING COVERING INDEX ix_celery_taskmeta_date_done (date_done>? AND date_done<?)
--   SCAN (subquery-1)

-- delete, 2 bound
DELETE FROM "celery_taskmeta" NOT INDEXED WHERE "celery_taskmeta"."rowid" IN (SELECT "q"."rowid" FROM json_each(?2) AS j CROSS JOIN "celery_taskmeta" AS q NOT INDEXED ON "q"."rowid" = CASE json_type(j.value, '$[0]') WHEN 'object' THEN unhex(json_extract(j.value, '$[0].blob')) ELSE json_extract(j.value, '$[0]') END WHERE (quote("q"."id") || ',' || quote("q"."date_done")) IS json_extract(j.value, '$[1]')) AND (CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END) IS 1;
--   SEARCH celery_taskmeta USING INTEGER PRIMARY KEY (rowid=?)
--   LIST SUBQUERY 1
--     SCAN j VIRTUAL TABLE INDEX 1:
--     SEARCH q USING INTEGER PRIMARY KEY (rowid=?)

-- rows inside one age, 3 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(k2), CASE typeof(k2) WHEN 'integer' THEN CAST(k2 AS TEXT) WHEN 'blob' THEN hex(k2) ELSE k2 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "celery_taskmeta"."date_done" AS k0, "celery_taskmeta"."rowid" AS k1, "celery_taskmeta"."rowid" AS k2, CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, (quote("celery_taskmeta"."id") || ',' || quote("celery_taskmeta"."date_done")) AS g FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" = ?2 AND "celery_taskmeta"."rowid" > +CAST(?3 AS INTEGER) ORDER BY "celery_taskmeta"."rowid" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH celery_taskmeta USING COVERING INDEX ix_celery_taskmeta_date_done (date_done=? AND rowid>?)
--   SCAN (subquery-1)

-- first rows, 2 bound
SELECT typeof(k0), CASE typeof(k0) WHEN 'integer' THEN CAST(k0 AS TEXT) WHEN 'blob' THEN hex(k0) ELSE k0 END, typeof(k1), CASE typeof(k1) WHEN 'integer' THEN CAST(k1 AS TEXT) WHEN 'blob' THEN hex(k1) ELSE k1 END, typeof(k2), CASE typeof(k2) WHEN 'integer' THEN CAST(k2 AS TEXT) WHEN 'blob' THEN hex(k2) ELSE k2 END, v, CASE WHEN v IS 1 THEN g END FROM (SELECT "celery_taskmeta"."date_done" AS k0, "celery_taskmeta"."rowid" AS k1, "celery_taskmeta"."rowid" AS k2, CASE CASE WHEN typeof("celery_taskmeta"."date_done") = 'text' AND datetime(unixepoch(substr("celery_taskmeta"."date_done", 1, 19)), 'unixepoch') IS substr("celery_taskmeta"."date_done", 1, 19) AND (substr("celery_taskmeta"."date_done", 20) = '' OR (substr("celery_taskmeta"."date_done", 20) GLOB '.[0-9]*' AND substr(substr("celery_taskmeta"."date_done", 20), 2) NOT GLOB '*[^0-9]*')) AND instr("celery_taskmeta"."date_done", char(0)) = 0 THEN "celery_taskmeta"."date_done" END < ?1 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE CASE WHEN "celery_taskmeta"."date_done" IS NULL THEN 'undated' ELSE 'unreadable' END END AS v, (quote("celery_taskmeta"."id") || ',' || quote("celery_taskmeta"."date_done")) AS g FROM "celery_taskmeta" INDEXED BY "ix_celery_taskmeta_date_done" WHERE "celery_taskmeta"."date_done" < ?2 ORDER BY "celery_taskmeta"."date_done" LIMIT 4000);
--   CO-ROUTINE (subquery-1)
--     SEARCH celery_taskmeta USING COVERING INDEX ix_celery_taskmeta_date_done (date_done<?)
--   SCAN (subquery-1)

