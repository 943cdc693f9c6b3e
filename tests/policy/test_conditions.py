from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retention.errors import PolicyError
from retention.policy.conditions import check_names, parse_condition, rewritten
from retention.schema.model import Schema

WHERE = 'rules[0] "t": only'

# What people write, each with the same condition for the row `k_`.
WRITTEN = [
    ("status = 'acked'", "\"k_\".status = 'acked'"),
    ("t.status IN ('acked', 'failed')", "\"k_\".status IN ('acked', 'failed')"),
    ("status GLOB 'a*' OR status NOT GLOB 'b*'", "\"k_\".status GLOB 'a*' OR \"k_\".status NOT GLOB 'b*'"),
    ("name LIKE 'x!%%' ESCAPE '!'", "\"k_\".name LIKE 'x!%%' ESCAPE '!'"),
    ("name NOT LIKE 'x%'", "\"k_\".name NOT LIKE 'x%'"),
    ("a IS NOT DISTINCT FROM b", '"k_".a IS NOT DISTINCT FROM "k_".b'),
    ("a IS b AND a IS NOT 5", '"k_".a IS "k_".b AND "k_".a IS NOT 5'),
    ("a ISNULL OR b NOTNULL OR c NOT NULL", '"k_".a ISNULL OR "k_".b NOTNULL OR "k_".c NOT NULL'),
    ("a IS TRUE AND b IS NOT FALSE", '"k_".a IS TRUE AND "k_".b IS NOT FALSE'),
    ("(a = 1) IS TRUE", '("k_".a = 1) IS TRUE'),
    ("a NOT IN (1) IS TRUE", '"k_".a NOT IN (1) IS TRUE'),
    ("a NOT BETWEEN 1 AND 2", '"k_".a NOT BETWEEN 1 AND 2'),
    ("a == 1 AND b <> 2 AND c != 3", '"k_".a == 1 AND "k_".b <> 2 AND "k_".c != 3'),
    ("doc ->> '$.done' = 1", "\"k_\".doc ->> '$.done' = 1"),
    ("doc->'a' IS NOT NULL", "\"k_\".doc->'a' IS NOT NULL"),
    ("json_extract(t.doc, '$.a') = 1", "json_extract(\"k_\".doc, '$.a') = 1"),
    ("json_valid(doc)", 'json_valid("k_".doc)'),
    ("name COLLATE NOCASE = 'x'", "\"k_\".name COLLATE NOCASE = 'x'"),
    ('name = \'x\' COLLATE "nocase"', '"k_".name = \'x\' COLLATE "nocase"'),
    ("h = x'ab' OR h = X'CD'", "\"k_\".h = x'ab' OR \"k_\".h = X'CD'"),
    ("strftime('%Y', ts) < '2020'", "strftime('%Y', \"k_\".ts) < '2020'"),
    ("date(ts, 'start of month') = '2020-01-01'", "date(\"k_\".ts, 'start of month') = '2020-01-01'"),
    ("unixepoch(ts, 'auto') < 1000", "unixepoch(\"k_\".ts, 'auto') < 1000"),
    ("CAST(a AS INTEGER) % 2 = 0", 'CAST("k_".a AS INTEGER) % 2 = 0'),
    ("CASE WHEN a = 1 THEN b = 2 ELSE 0 END", 'CASE WHEN "k_".a = 1 THEN "k_".b = 2 ELSE 0 END'),
    ("CASE a WHEN 1 THEN 1 ELSE NULL END", 'CASE "k_".a WHEN 1 THEN 1 ELSE NULL END'),
    ("iif(a = 1, b = 2, 0)", 'iif("k_".a = 1, "k_".b = 2, 0)'),
    ("coalesce(a = 1, 0) AND likely(b = 2)", 'coalesce("k_".a = 1, 0) AND likely("k_".b = 2)'),
    ("max(a, b) > min(c, d)", 'max("k_".a, "k_".b) > min("k_".c, "k_".d)'),
    ("like('x%', name) AND glob('x*', name)", "like('x%', \"k_\".name) AND glob('x*', \"k_\".name)"),
    ("name LIKE ('x' || '%')", "\"k_\".name LIKE ('x' || '%')"),
    ("name = 'now' AND a = 1", "\"k_\".name = 'now' AND \"k_\".a = 1"),
    ("date(replace(ts, 'T', ' '), '+1 day') < '2020'", "date(replace(\"k_\".ts, 'T', ' '), '+1 day') < '2020'"),
    ("unixepoch(ts || '-01', 'subsec') < 9", "unixepoch(\"k_\".ts || '-01', 'subsec') < 9"),
    ("date(date('2020-01-01'), '+' || a || ' days') < ts", "date(date('2020-01-01'), '+' || \"k_\".a || ' days') < \"k_\".ts"),
    ("julianday(2451545 + 1) < a", 'julianday(2451545 + 1) < "k_".a'),
    ("a IN (SELECT words.rowid FROM words JOIN u ON u.a = words.rowid AND (words MATCH 'x'))",
     "\"k_\".a IN (SELECT words.rowid FROM words JOIN u ON u.a = words.rowid AND (words MATCH 'x'))"),
    ("(a, b) = (1, 2)", '("k_".a, "k_".b) = (1, 2)'),
    ("(a, b) IN (SELECT c, d FROM u)", '("k_".a, "k_".b) IN (SELECT c, d FROM u)'),
    ("a IN ()", '"k_".a IN ()'),
    ("a IN one", '"k_".a IN one'),
    ("a IN (VALUES (1), (2))", '"k_".a IN (VALUES (1), (2))'),
    ("a & 4 <> 0 AND ~b = -1 AND c << 1 = 2", '"k_".a & 4 <> 0 AND ~"k_".b = -1 AND "k_".c << 1 = 2'),
    ("a = 1e3 OR b = .5 OR c = 0x1F", '"k_".a = 1e3 OR "k_".b = .5 OR "k_".c = 0x1F'),
    ("d = 9223372036854775808", '"k_".d = 9223372036854775808'),
    ("a = 'it''s -- no /* comment */ ; ? :x'", "\"k_\".a = 'it''s -- no /* comment */ ; ? :x'"),
    ('"my col" = 1 AND [my col] = 2 AND `my col` = 3', '"k_"."my col" = 1 AND "k_".[my col] = 2 AND "k_".`my col` = 3'),
    ('"a""b" = 1 AND größe = 2 AND t."order" = 3', '"k_"."a""b" = 1 AND "k_".größe = 2 AND "k_"."order" = 3'),
    ("date = 1 AND user = 2 AND key = 3 AND type = 4", '"k_".date = 1 AND "k_".user = 2 AND "k_".key = 3 AND "k_".type = 4'),
    ("rowid > 5 AND T._rowid_ < 9", '"k_".rowid > 5 AND "k_"._rowid_ < 9'),
    ("TRUE", "TRUE"),
    ("\n a = 1\n AND\tb = 2\n", '"k_".a = 1\n AND\t"k_".b = 2'),
    ("NOT EXISTS (SELECT 1 FROM u AS r WHERE r.k = t.id)", 'NOT EXISTS (SELECT 1 FROM u AS r WHERE r.k = "k_".id)'),
    ("NOT EXISTS (SELECT 1 FROM t AS r WHERE r.k = t.id)", 'NOT EXISTS (SELECT 1 FROM t AS r WHERE r.k = "k_".id)'),
    ("id NOT IN (SELECT max(t.id) FROM t GROUP BY t.k)", '"k_".id NOT IN (SELECT max(t.id) FROM t GROUP BY t.k)'),
    ("(SELECT count(*) FROM u WHERE u.a = t.a) > 2", '(SELECT count(*) FROM u WHERE u.a = "k_".a) > 2'),
    ("(SELECT count(*) > 2 FROM u WHERE u.a = t.a)", '(SELECT count(*) > 2 FROM u WHERE u.a = "k_".a)'),
    ("EXISTS (SELECT 1 FROM u INDEXED BY u_a WHERE u.a = t.a)", 'EXISTS (SELECT 1 FROM u INDEXED BY u_a WHERE u.a = "k_".a)'),
    ("EXISTS (SELECT 1 FROM u NOT INDEXED WHERE u.a = t.a)", 'EXISTS (SELECT 1 FROM u NOT INDEXED WHERE u.a = "k_".a)'),
    ("EXISTS (SELECT 1 FROM u LEFT JOIN v USING (k) WHERE u.a = t.a)", 'EXISTS (SELECT 1 FROM u LEFT JOIN v USING (k) WHERE u.a = "k_".a)'),
    ("EXISTS (SELECT 1 FROM (u JOIN v ON u.a = v.a) WHERE u.k = t.k)", 'EXISTS (SELECT 1 FROM (u JOIN v ON u.a = v.a) WHERE u.k = "k_".k)'),
    ("EXISTS (SELECT * FROM u NATURAL JOIN v WHERE k = t.k)", 'EXISTS (SELECT * FROM u NATURAL JOIN v WHERE k = "k_".k)'),
    ("EXISTS (SELECT a FROM u UNION SELECT b FROM v ORDER BY a)", "EXISTS (SELECT a FROM u UNION SELECT b FROM v ORDER BY a)"),
    ("EXISTS (SELECT 1 FROM json_each(t.doc) AS j WHERE j.value = 1)", 'EXISTS (SELECT 1 FROM json_each("k_".doc) AS j WHERE j.value = 1)'),
    ("EXISTS (SELECT 1 FROM json_each(doc, '$.x') WHERE value = 1)", "EXISTS (SELECT 1 FROM json_each(doc, '$.x') WHERE value = 1)"),
    ("EXISTS (SELECT 1 FROM words('x') AS w WHERE w.rowid = t.id)", "EXISTS (SELECT 1 FROM words('x') AS w WHERE w.rowid = \"k_\".id)"),
    ("EXISTS (SELECT 1 FROM words WHERE words MATCH 'x' AND words.rowid = t.id)",
     "EXISTS (SELECT 1 FROM words WHERE words MATCH 'x' AND words.rowid = \"k_\".id)"),
    ("EXISTS (WITH w(n) AS (SELECT a FROM u) SELECT 1 FROM w WHERE n = t.b)",
     'EXISTS (WITH w(n) AS (SELECT a FROM u) SELECT 1 FROM w WHERE n = "k_".b)'),
    ("EXISTS (WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 5) SELECT 1 FROM w WHERE n = t.b)",
     'EXISTS (WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 5) SELECT 1 FROM w WHERE n = "k_".b)'),
    ("a = (SELECT max(u.a) AS m FROM u GROUP BY u.b HAVING m > 1 ORDER BY m LIMIT 1)",
     '"k_".a = (SELECT max(u.a) AS m FROM u GROUP BY u.b HAVING m > 1 ORDER BY m LIMIT 1)'),
    ("a IN (SELECT q FROM (SELECT a AS q, b AS p FROM u) AS s WHERE s.p = t.c)",
     '"k_".a IN (SELECT q FROM (SELECT a AS q, b AS p FROM u) AS s WHERE s.p = "k_".c)'),
    ("a IN (SELECT x FROM (SELECT row_number() OVER (PARTITION BY u.k ORDER BY u.a) AS x FROM u))",
     '"k_".a IN (SELECT x FROM (SELECT row_number() OVER (PARTITION BY u.k ORDER BY u.a) AS x FROM u))'),
    ('EXISTS (SELECT 1 FROM "odd name" WHERE "odd name".a = "t"."a")', 'EXISTS (SELECT 1 FROM "odd name" WHERE "odd name".a = "k_"."a")'),
    ("(SELECT u.a = 1 FROM u UNION SELECT v.b = 2 FROM v)", "(SELECT u.a = 1 FROM u UNION SELECT v.b = 2 FROM v)"),
    ("EXISTS (SELECT 1 FROM (VALUES (1), (2)) AS q WHERE q.column1 = t.a)",
     'EXISTS (SELECT 1 FROM (VALUES (1), (2)) AS q WHERE q.column1 = "k_".a)'),
    ("a IN (SELECT x FROM (SELECT *, 1 AS y FROM u))", '"k_".a IN (SELECT x FROM (SELECT *, 1 AS y FROM u))'),
    ("EXISTS (SELECT u.* FROM u WHERE u.a = t.a)", 'EXISTS (SELECT u.* FROM u WHERE u.a = "k_".a)'),
    ("a IN (SELECT z FROM both)", '"k_".a IN (SELECT z FROM both)'),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "for_other"), WRITTEN)
def test_what_people_write_is_taken_word_for_word(sql: str, for_other: str, schema: Schema, database: apsw.Connection) -> None:
    condition = parse_condition(sql, "t", WHERE)
    assert condition.text == sql.strip()
    check_names(condition, schema, schema.tables["t"])
    assert rewritten(condition, "k_") == for_other
    # SQLite takes both, so the case is one that can happen.
    database.execute(f"EXPLAIN DELETE FROM t WHERE ({condition.text}) IS TRUE")
    database.execute(f'EXPLAIN SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM t AS "k_" WHERE ({for_other}) IS TRUE)')


REFUSED = [
    ("", "is empty"),
    ("   ", "is empty"),
    ("1) OR (1", "parentheses that do not match"),
    ("a = 1) OR (1 = 1", "parentheses that do not match"),
    ("a = 1)", "parentheses that do not match"),
    ("(a = 1", "parentheses that do not match"),
    ("a = 1; DROP TABLE t", "semicolon"),
    ("a = 1;", "semicolon"),
    ("a = 1 -- and b = 2", "comment"),
    ("a = 1 --", "comment"),
    ("--\na = 1", "comment"),
    ("a = 1 /* b */", "comment"),
    ("a = 1 /* b", "comment"),
    ("a = 1 /* /* b */", "comment"),
    ("a = 'x", "quote that is not closed"),
    ('"a = 1', "quote that is not closed"),
    ("[a = 1", "quote that is not closed"),
    ("a = 'x\\'y'", "quote that is not closed"),
    ("a = 1\0", "control character"),
    ("a =\u00a01", "space that SQLite does not know"),
    ("a = ?", "parameter"),
    ("a = ?1", "parameter"),
    ("a = :x", "parameter"),
    ("a = @x", "parameter"),
    ("a = $x", "parameter"),
    ("a::int = 1", "parameter"),
    ("a = random()", "random() gives another answer each time"),
    ('a = "random"()', "random() gives another answer each time"),
    ("a = [random] ()", "random() gives another answer each time"),
    ("a IN (SELECT abs(RANDOM()) FROM u)", "random() gives another answer each time"),
    ("h = randomblob(4)", "randomblob() gives another"),
    ("a = changes() AND b = 2", "changes() tells of the connection"),
    ("a = total_changes()", "total_changes() tells of the connection"),
    ("a = last_insert_rowid()", "last_insert_rowid() tells of the connection"),
    ("a = sqlite_version()", "sqlite_version() tells of the machine"),
    ("ts < CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP reads the clock"),
    ("ts < current_date", "current_date reads the clock"),
    ("ts < datetime('now')", "datetime() here reads the clock"),
    ("ts < datetime('NOW', '-1 day')", "datetime() here reads the clock"),
    ("ts < datetime(('now'))", "datetime() here reads the clock"),
    ("ts < date()", "date() here reads the clock"),
    ("ts < unixepoch('subsec')", "unixepoch() here reads the clock"),
    ("ts < strftime('%s')", "strftime() here reads the clock"),
    ("ts < strftime('%s', 'now')", "strftime() here reads the clock"),
    ("ts < julianday('now') - 30", "julianday() here reads the clock"),
    ("a = timediff(ts, 'now')", "timediff() here reads the clock"),
    ("ts < (SELECT datetime('now'))", "datetime() here reads the clock"),
    ("ts < unixepoch(coalesce(a, 'now'))", "unixepoch() here reads the clock"),
    ("ts < unixepoch(coalesce(a, 'subsec'))", "unixepoch() here reads the clock"),
    ("a = timediff(ts, 'subsec')", "timediff() here reads the clock"),
    ("ts < date('now' || '')", "date() here reads the clock"),
    ("ts < date('' || ' Now ')", "date() here reads the clock"),
    ("ts < date('n' || 'ow')", "date() here reads the clock"),
    ("ts < date(a || 'n' || ('ow'))", "date() here reads the clock"),
    ("ts < date(x'6e6f77')", "date() here reads the clock"),
    ("ts < date(CAST(x'4E4F57' AS TEXT))", "date() here reads the clock"),
    ("ts < date(CASE WHEN a = 1 THEN 'now' ELSE b END)", "date() here reads the clock"),
    ("ts < date((SELECT 'now'))", "date() here reads the clock"),
    ("ts < (SELECT date(q.c) FROM (SELECT 'now' AS c) AS q)", "has 'now' beside date(), which reads the clock"),
    ("ts < (SELECT date(q.c) FROM (SELECT 'n' || 'ow' AS c) AS q)", "has 'now' beside date(), which reads the clock"),
    ("date(ts) = '2020-01-01' AND status = 'now'", "has 'now' beside date(), which reads the clock"),
    ("ts < date(substr('xnow', 2))", "put together from constants"),
    ("ts < date(char(110, 111, 119))", "put together from constants"),
    ("ts < date(coalesce(a, char(110, 111, 119)))", "put together from constants"),
    ("ts < date(lower('N') || a || upper('ow'))", "put together from constants"),
    ("ts < date('[\"now\"]' ->> 0)", "put together from constants"),
    ("ts < datetime(a, coalesce(b, 'localtime'))", "time zone of the machine"),
    ("ts < datetime(a, 'local' || 'time')", "time zone of the machine"),
    ("ts < datetime(a, 'localtime')", "time zone of the machine"),
    ("ts < datetime(a, 'utc')", "time zone of the machine"),
    ("count(*) > 1", "count() is about many rows"),
    ("max(a) = 1", "max() is about many rows"),
    ("(sum(a)) > 1", "sum() is about many rows"),
    ("row_number() OVER (ORDER BY a) = 1", "row_number() is about many rows"),
    ("abs(a) OVER () = 1", "OVER makes an aggregate or window function"),
    ("regexp('x', a) = 1", "regexp() is not built into SQLite"),
    ("if(a = 1, 1, 0)", "write iif"),
    ("jsn_extract(doc, '$') = 1", "did you mean json_extract()?"),
    ("load_extension('x') = 1", "load_extension() tells of the machine"),
    ("raise(ignore) = 1", "raise() is not a function"),
    ("a", "asks a for yes or no"),
    ("NOT a", "asks a for yes or no"),
    ("b = 1 AND a", "asks a for yes or no"),
    ("CASE WHEN b = 1 THEN a END", "asks a for yes or no"),
    ("iif(b = 1, a, 0)", "asks a for yes or no"),
    ("coalesce(a, 0)", "asks a for yes or no"),
    ("(SELECT legal_hold FROM messages)", "asks legal_hold for yes or no"),
    ("1", "not a yes-or-no expression"),
    ("'yes'", "not a yes-or-no expression"),
    ("NULL", "not a yes-or-no expression"),
    ("a = 1 OR 1", "not a yes-or-no expression"),
    ("a + 1", "not a yes-or-no expression"),
    ("a & 4", "not a yes-or-no expression"),
    ("doc ->> '$.done'", "not a yes-or-no expression"),
    ("abs(a)", "not a yes-or-no expression"),
    ("CASE WHEN a = 1 THEN 2 END", "not a yes-or-no expression"),
    ("(a = 1, b = 2)", "not a yes-or-no expression"),
    ("a REGEXP 'x'", "holds REGEXP, which is not built into SQLite"),
    ("a = 1 OR NOT a REGEXP 'x'", "holds REGEXP, which is not built into SQLite"),
    ("name MATCH 'a'", "MATCH works in a subquery"),
    ("name NOT MATCH 'a'", "MATCH works in a subquery"),
    ("a = 1 AND t.name MATCH 'a'", "MATCH works in a subquery"),
    ("\"match\"('a', name) = 1", "cannot be read"),
    ("EXISTS (SELECT 1 FROM words WHERE t.name MATCH 'a')", "MATCH works in a subquery"),
    ("EXISTS (SELECT 1 FROM words WHERE words MATCH 'a' OR words.rowid = 1)", "MATCH works in a subquery"),
    ("EXISTS (SELECT 1 FROM words WHERE NOT (words MATCH 'a'))", "MATCH works in a subquery"),
    ("EXISTS (SELECT 1 FROM words WHERE (words MATCH 'a') IS TRUE)", "MATCH works in a subquery"),
    ("a = 1 b", "is not one expression"),
    ("status active", "is not one expression"),
    ("a = 1_000", "is not one expression"),
    ("a = 1, b = 2", "is more than one expression"),
    ("a = 1 ORDER BY b", "cannot be read near \"ORDER BY\""),
    ("a = 1 LIMIT 1", "cannot be read near \"LIMIT\""),
    ("a = 1 UNION SELECT 1", "cannot be read near \"UNION\""),
    ("a = 1 AND", "cannot be read"),
    ("outer = 1", "put names that are keywords in double quotes"),
    ("SELECT 1", "is a statement, not a condition"),
    ("DELETE FROM u", "cannot be read"),
    ("EXISTS (DELETE FROM u RETURNING 1)", "cannot be read"),
    ("a IN (WITH w AS (DELETE FROM u RETURNING a) SELECT a FROM w)", "holds DELETE, but a condition only reads"),
    ("a IN (PRAGMA user_version)", "cannot be read"),
    ("likely(1)", "not a yes-or-no expression"),
    ("main.t.a = 1", "names a database in main.t.a"),
    ("EXISTS (SELECT 1 FROM temp.u WHERE u.a = t.a)", "names a database in temp.u"),
    ("EXISTS (SELECT 1 FROM u AS t WHERE t.a = 1)", "calls something else t"),
    ("EXISTS (WITH t AS (SELECT 1 AS a) SELECT 1 FROM t WHERE t.a = 1)", "calls something else t"),
    ("current_user = 1", "write it in double quotes"),
    ("(" * 4_000 + "a = 1" + ")" * 4_000, "nested too deeply"),
    ("NOT " * 4_000 + "a = 1", "nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "says"), REFUSED, ids=[sql[:40] for sql, _ in REFUSED])
def test_what_is_no_condition_is_refused_with_the_reason(sql: str, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_condition(sql, "t", WHERE)
    message = str(caught.value)
    assert message.startswith(f"{WHERE}: ")
    assert says in message
    assert message.endswith((".", "?"))
    assert "sqlglot" not in message


UNKNOWN = [
    ('status = "acked"', "has \"acked\", which names a column that does not exist; write the text 'acked' in single quotes."),
    (
        'status = "statu"',
        "has \"statu\", which names a column that does not exist; did you mean status, or the text 'statu' in single quotes?",
    ),
    ('"statuss" = 1', "did you mean status, or the text"),
    ('"complete_at" < 5', "names a column that does not exist"),
    ('doc -> "$.a" = 1', "names a column that does not exist"),
    ('date("now") = 1', "reads the clock"),
    ("EXISTS (SELECT 1 FROM u WHERE u.a MATCH 'x')", "has u.a MATCH 'x' where no full-text table is read; MATCH works in a subquery"),
    ("stats = 1", "uses stats, a column that does not exist; did you mean status?"),
    ("t.stats = 1", "uses t.stats, a column that does not exist; did you mean status?"),
    ("zzz = 1", "uses zzz, a column that does not exist"),
    ("other.a = 1", "uses other.a, but nothing here is called other; known are t."),
    ("u.a IN (SELECT a FROM u)", "nothing here is called u"),
    ("a IN (SELECT a FROM uu)", "reads the table uu, which does not exist; did you mean u?"),
    ("EXISTS (SELECT q.* FROM u WHERE u.a = t.a)", "nothing here is called q"),
    ("a IN nowhere", "reads the table nowhere, which does not exist"),
    ("a IN (SELECT u.nothing FROM u)", "uses u.nothing, a column that does not exist"),
    ("a IN (SELECT r.a FROM u AS q)", "nothing here is called r"),
    ("a IN (SELECT a FROM sqlite_schema)", "reads the table sqlite_schema, which does not exist"),
    ("EXISTS (SELECT 1 FROM u, v WHERE b = t.b)", "uses b, which u and v both have; write the table before it."),
    ("EXISTS (SELECT 1 FROM json_each(t.doc) AS j WHERE j.valu = 1)", "uses j.valu, a column that does not exist; did you mean value?"),
    ("EXISTS (WITH w(n) AS (SELECT 1) SELECT 1 FROM w WHERE w.m = t.a)", "uses w.m, a column that does not exist"),
    ("a IN (SELECT q.z FROM (SELECT a FROM u) AS q)", "uses q.z, a column that does not exist"),
    # SQLite takes these two for the row's own column: true of every row, and the table is empty.
    ("status IN (SELECT status FROM u)", "selects status in a subquery whose tables have no such column, so it means t.status"),
    ("a IN (SELECT rowid FROM bare)", "selects rowid in a subquery whose tables have no such column"),
    # And here it takes `id` for the other row's.
    ("EXISTS (SELECT 1 FROM u AS r WHERE r.k = id)", "because id there means r.id; write the table before each name, such as t.id."),
    ("NOT EXISTS (SELECT 1 FROM u WHERE a = b)", "asks EXISTS the same question for every row"),
    ("rowid IN (SELECT 1 FROM bare WHERE bare.rowid = 1)", "uses bare.rowid"),
]


@pytest.mark.parametrize(("sql", "says"), UNKNOWN)
def test_names_that_mean_nothing_or_two_things_are_refused(sql: str, says: str, schema: Schema) -> None:
    with pytest.raises(PolicyError) as caught:
        check_names(parse_condition(sql, "t", WHERE), schema, schema.tables["t"])
    assert str(caught.value).startswith(f"{WHERE}: ")
    assert says in str(caught.value)


ALL = ("bare", "both", "constant", "messages", "odd name", "one", "outer_view", "strange", "t", "u", "v", "words")


@pytest.mark.parametrize(
    ("sql", "tables", "columns"),
    [
        ("status = 'x' AND T.ID > 3 AND rowid > 1", (), ("id", "status")),
        ("NOT EXISTS (SELECT 1 FROM messages AS r WHERE r.thread_id = t.id)", ("messages",), ("id",)),
        ("NOT EXISTS (SELECT 1 FROM t AS r WHERE r.k = t.id)", ("t",), ("id",)),
        ("a IN U OR b IN (SELECT V.b FROM V)", ("u", "v"), ("a", "b")),
        (
            "EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND EXISTS (SELECT 1 FROM v WHERE v.b = u.b AND v.a = status))",
            ("u", "v"),
            ("a", "status"),
        ),
        ("EXISTS (WITH w AS (SELECT a AS m FROM u) SELECT 1 FROM w WHERE m = t.b)", ("u",), ("b",)),
        ("EXISTS (SELECT 1 FROM json_each(t.doc) WHERE value = 1)", (), ("doc",)),
        ("EXISTS (SELECT 1 FROM words('x') AS w WHERE w.rowid = t.id)", ("words",), ("id",)),
        ("EXISTS (SELECT 1 FROM u WHERE u.x = 1)", ("u",), ()),
        ("a IN (SELECT a FROM u UNION SELECT b FROM v)", ("u", "v"), ("a",)),
        ("a IN (SELECT a FROM outer_view)", ("u", "v"), ("a",)),
        ("a IN (SELECT a FROM strange)", ALL, ("a",)),
        ("a IN (SELECT a FROM constant)", ALL, ("a",)),
    ],
)
def test_the_tables_of_subqueries_and_the_columns_of_the_row_are_known(
    sql: str, tables: tuple[str, ...], columns: tuple[str, ...], schema: Schema
) -> None:
    names = check_names(parse_condition(sql, "t"), schema, schema.tables["t"])
    assert (names.tables, names.columns) == (tables, columns)


def test_a_condition_of_hundreds_of_terms_is_read(schema: Schema) -> None:
    sql = " OR ".join(f"(t.a = {n} AND b <> {n})" for n in range(600))
    condition = parse_condition(sql, "t")
    assert check_names(condition, schema, schema.tables["t"]).columns == ("a", "b")
    assert rewritten(condition, "k_").count('"k_".') == 1200


def test_an_alias_that_the_condition_uses_cannot_stand_for_the_row() -> None:
    condition = parse_condition("NOT EXISTS (SELECT 1 FROM u AS R WHERE R.k = t.id)", "t")
    assert "r" in condition.identifiers
    with pytest.raises(PolicyError, match="stands for another row"):
        rewritten(condition, "r")
    assert rewritten(condition, 'a"b').endswith('R.k = "a""b".id)')


def test_a_rewritten_condition_answers_for_the_other_row(database: apsw.Connection) -> None:
    database.execute("INSERT INTO t (id, a, k) VALUES (1, 1, NULL), (2, 5, 3), (3, 5, NULL)")
    condition = parse_condition(
        "a = 5 AND NOT EXISTS (SELECT 1 FROM t AS r WHERE r.k = t.id) AND t.id IN (SELECT id FROM t WHERE t.id > 1)", "t"
    )
    plain = database.execute(f"SELECT t.id FROM t WHERE ({condition.text}) ORDER BY 1").fetchall()
    # Beside another row of the same table, which a name left as it was would mean.
    inner = f"SELECT o.id FROM t AS o WHERE ({rewritten(condition, 'o')}) ORDER BY 1"
    other = database.execute(f"SELECT (SELECT group_concat(id) FROM ({inner})) FROM t WHERE t.id = 1").fetchall()
    assert (plain, other) == ([(2,)], [("2",)])


PIECES = st.sampled_from(
    [
        "a",
        "t.a",
        "1",
        "'x'",
        '"a"',
        "(",
        ")",
        ") OR (",
        "=",
        "AND",
        "OR",
        "NOT",
        "IN",
        "IS",
        "NULL",
        "--",
        "/*",
        "*/",
        "'",
        '"',
        "[",
        "]",
        "`",
        ";",
        "?",
        ",",
        "EXISTS",
        "(SELECT a FROM u)",
        "CASE",
        "END",
        "random()",
        "\n",
        "\\",
        "x'ab'",
        "'')--",
        "\x00",
        "UNION SELECT 1",
    ]
)
SEEDS = st.sampled_from(["a = 1", "status IN ('x', \"b\")", "NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", "a = 'x' OR b IS NULL"])


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A condition with pieces put in at any place."""
    text = draw(SEEDS)
    for piece in draw(st.lists(PIECES, max_size=4)):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(["", " "])) + piece + text[place:]
    return text


@given(damaged() | st.lists(PIECES, max_size=8).map(" ".join))
def test_no_text_that_is_taken_can_leave_its_parentheses(sql: str) -> None:
    try:
        condition = parse_condition(sql, "t")
    except PolicyError:
        return
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE t (a, b, status); CREATE TABLE u (a, b, status); INSERT INTO t VALUES (1, 2, 'x'), (3, NULL, NULL)")
    try:
        found = connection.execute(f"SELECT count(*) FROM t WHERE FALSE AND ({condition.text}) AND FALSE").fetchall()
    except apsw.SQLError:
        return
    assert found == [(0,)]
