"""Random families of tables under a rule with `children = "drain"`, and an oracle in plain Python that says what may go.

The oracle shares nothing with the engine: it reads all rows and follows the keys by hand, by the words of the guide to draining.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import apsw
from hypothesis import strategies as st

from .world import DAY, KEEP_DAYS, NOW_S

__all__ = ["TABLES", "Families", "families"]

OLD, FRESH = NOW_S - 90 * DAY, NOW_S - 5
TABLES = ("t", "a", "b", "c")

DOWN = (("a", "t_id", "t"), ("b", "a_id", "a"), ("b", "t_id", "t"), ("c", "b_id", "b"), ("c", "t_id", "t"))
"""Keys that the drain follows: (child, column, parent)."""

BACK = (("t", "up", "t"), ("a", "up", "a"), ("t", "a_id", "a"), ("b", "up", "b"))
"""Keys that lead back to a table on the way: they are not followed."""

ACTIONS = ("", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE RESTRICT", "DEFERRABLE INITIALLY DEFERRED")

IDS = {
    "integer": ("id INTEGER PRIMARY KEY", "", lambda n: n),
    "rowid": ("id TEXT UNIQUE NOT NULL", "", lambda n: f"k'{n:02}"),
    "without": ("id TEXT PRIMARY KEY NOT NULL", " WITHOUT ROWID", lambda n: f'k"{n:02}'),
    "blob": ("id BLOB PRIMARY KEY NOT NULL", " WITHOUT ROWID", lambda n: bytes([0, n + 100])),
}

Row = dict[str, Any]
Keys = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Families:
    """Four tables and a policy.

    Attributes:
        kinds: how each table's rows are named.
        actions: of each key that is there, by (child, column).
        rows: by table, (number, references by column, old, held); references are numbers.
        holds: tables with a hold.
    """

    kinds: dict[str, str]
    actions: dict[tuple[str, str], str]
    rows: dict[str, list[tuple[int, dict[str, int], bool, bool]]]
    holds: tuple[str, ...]
    walk: str
    page_rows: int
    rows_changed: int

    @property
    def down(self) -> Keys:
        return tuple(k for k in DOWN if k[:2] in self.actions)

    @property
    def back(self) -> Keys:
        return tuple(k for k in BACK if k[:2] in self.actions)

    def build(self, path: str = "") -> apsw.Connection:
        con = apsw.Connection(path)
        for table in TABLES:
            key, without, _ = IDS[self.kinds[table]]
            columns = [key, "at INTEGER", "held INTEGER NOT NULL DEFAULT 0"]
            for child, column, parent in self.down + self.back:
                if child == table:
                    declared = IDS[self.kinds[parent]][0].split()[1]
                    columns.append(f"{column} {declared} REFERENCES {parent} (id) {self.actions[child, column]}")
            con.execute(f"CREATE TABLE {table} ({', '.join(columns)}){without}")
        for child, column, _ in self.down + self.back:
            con.execute(f"CREATE INDEX {child}_{column} ON {child} ({column})")
        if self.walk == "age":
            con.execute("CREATE INDEX t_at ON t (at)")
        con.execute("PRAGMA foreign_keys = OFF")
        for table in TABLES:
            named = IDS[self.kinds[table]][2]
            for number, references, old, held in self.rows[table]:
                con.execute(
                    f"INSERT OR IGNORE INTO {table} (id, at, held) VALUES (?, ?, ?)", (named(number), OLD - number if old else FRESH, held)
                )
                for child, column, parent in self.down + self.back:
                    if child == table and column in references:
                        target = IDS[self.kinds[parent]][2](references[column])
                        con.execute(f"UPDATE {child} SET {column} = ? WHERE id = ?", (target, named(number)))
        # Orphans go, until none is left.
        while broken := con.execute("PRAGMA foreign_key_check").fetchall():
            for table in {row[0] for row in broken}:
                for child, column, parent in self.down + self.back:
                    if child == table:
                        con.execute(f"UPDATE {child} SET {column} = NULL WHERE {column} NOT IN (SELECT id FROM {parent})")
        con.execute("PRAGMA foreign_keys = ON")
        return con

    def policy(self) -> dict[str, Any]:
        rule: dict[str, Any] = {
            "table": "t",
            "keep": f"{KEEP_DAYS}d",
            "age": {"column": "at", "format": "unix_s"},
            "children": "drain",
            "page_rows": self.page_rows,
        }
        if self.walk == "age":
            rule["walk"] = {"index": "t_at"}
        return {
            "version": 1,
            "rules": [rule],
            "limits": {"rows_changed": self.rows_changed},
            "holds": [{"table": table, "where": f"{table}.held = 1"} for table in self.holds],
        }

    # --- the oracle

    def read(self, con: apsw.Connection) -> dict[str, dict[Any, Row]]:
        """All rows, by table and id."""
        found: dict[str, dict[Any, Row]] = {}
        for table in TABLES:
            cursor = con.execute(f"SELECT * FROM {table} WHERE true")
            rows = cursor.fetchall()
            names = [c[1] for c in con.execute(f"PRAGMA table_info({table})")]
            found[table] = {row[names.index("id")]: dict(zip(names, row, strict=True)) for row in rows}
        return found

    def family(self, data: dict[str, dict[Any, Row]], parent: Any) -> dict[str, set[Any]]:
        """Ids, by table, of the rows below a row of t."""
        found: dict[str, set[Any]] = defaultdict(set)
        todo = [("t", parent)]
        while todo:
            table, key = todo.pop()
            for child, column, above in self.down:
                if above == table:
                    new = {i for i, row in data[child].items() if row[column] == key} - found[child]
                    found[child] |= new
                    todo += [(child, i) for i in new]
        return found

    def eligible(self, data: dict[str, dict[Any, Row]]) -> dict[Any, dict[str, set[Any]]]:
        """The rows of t that may go, each with its family."""
        found: dict[Any, dict[str, set[Any]]] = {}
        for key, row in data["t"].items():
            if row["at"] is None or row["at"] >= NOW_S - KEEP_DAYS * DAY or ("t" in self.holds and row["held"] == 1):
                continue
            if ("t", "up") in self.actions and any(r["up"] == key and i != key for i, r in data["t"].items()):
                continue
            family = self.family(data, key)
            if any(data[table][i]["held"] == 1 for table in self.holds if table != "t" for i in family[table]):
                continue
            found[key] = family
        return found

    def referred(self, data: dict[str, dict[Any, Row]], family: dict[str, set[Any]]) -> bool:
        """Whether any key that is not followed leads to a row of the family."""
        return any(row[column] in family[parent] for child, column, parent in self.back if parent != "t" for row in data[child].values())


@st.composite
def families(draw: st.DrawFn, back: bool = True) -> Families:
    keys = [k for k in DOWN if draw(st.sampled_from([True, True, True, k[0] == "a"]))] if draw(st.integers(0, 9)) else []
    keys += [k for k in BACK if back and draw(st.integers(0, 2)) == 0]
    if back and draw(st.booleans()):
        keys.append(BACK[0])
    keys = list(dict.fromkeys(keys))
    sizes = {table: draw(st.integers(least, most)) for table, least, most in (("t", 1, 6), ("a", 0, 8), ("b", 0, 10), ("c", 0, 8))}
    rows: dict[str, list[tuple[int, dict[str, int], bool, bool]]] = {}
    for table in TABLES:
        references = {
            column: st.integers(0, sizes[parent] - 1)
            for child, column, parent in keys
            if child == table and sizes[parent] and (child, column) not in {k[:2] for k in BACK}
        }
        loops = {column: st.integers(0, sizes[parent] - 1) for child, column, parent in keys if child == table and sizes[parent]}
        one = st.tuples(
            st.fixed_dictionaries(references, optional={column: loops[column] for column in loops.keys() - references.keys()}),
            st.sampled_from([True, True, True, False]),
            st.sampled_from([False] * 19 + [True]),
        )
        numbers = draw(st.permutations(range(sizes[table])))
        rows[table] = [(number, *draw(one)) for number in numbers]
    kinds = {table: draw(st.sampled_from(list(IDS))) for table in TABLES}
    return Families(
        kinds=kinds,
        actions={key[:2]: draw(st.sampled_from(ACTIONS)) for key in keys},
        rows=rows,
        holds=tuple(draw(st.sets(st.sampled_from(TABLES)))),
        walk=draw(st.sampled_from(["key", "age"])) if kinds["t"] in ("integer", "rowid") else "key",
        page_rows=draw(st.integers(1, 6)),
        rows_changed=draw(st.sampled_from([10_000, 3, 3, 1, 5])),
    )
