"""Random databases with a policy, and an oracle in plain Python that says which rows may go.

The oracle shares nothing with the engine: it reads all rows and decides by the words of the policy reference.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import apsw
from hypothesis import strategies as st

__all__ = ["NOW_MS", "World", "unbounded", "worlds"]

NOW_S = 1_788_962_400
NOW_MS = NOW_S * 1000
DAY = 86_400
KEEP_DAYS = 30

WORDS = '"true" DEFAULT 0, "false" DEFAULT 1, "null" DEFAULT 2, v DEFAULT 1, n, gone'
"""Columns whose names are words of SQL, or of our own statements: they must not be taken for them."""

KEYS = {
    "ipk": "id INTEGER PRIMARY KEY, w TEXT, seq INTEGER NOT NULL, at, kind TEXT, {words}",
    "rowid": "id TEXT PRIMARY KEY NOT NULL, w TEXT, seq INTEGER NOT NULL, at INTEGER, kind TEXT, {words}",
    "bare": "id INTEGER NOT NULL, w TEXT, seq INTEGER NOT NULL, at INTEGER, kind TEXT, {words}",
    "without": "id TEXT PRIMARY KEY NOT NULL, w TEXT, seq INTEGER NOT NULL, at INTEGER, kind TEXT, {words}",
    "pair": "id INTEGER NOT NULL, w TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER, kind TEXT, {words}, PRIMARY KEY (w, id)",
}

DOCUMENTS: dict[str, str | None] = {
    "none": None,
    "empty": "",
    "null": "null",
    "other": '{"other": 1}',
    "ten": '{"days": 10}',
    "half": '{"days": 0.5}',
    "sixty": '{"days": 60}',
    "off": '{"days": null}',
    "zero": '{"days": 0}',
    "text": '{"days": "30"}',
    "broken": "{broken",
    "array": "[]",
    "twice": '{"days": 1, "days": 2}',
}
RULE, EVER, MALFORMED = "rule", "ever", "malformed"
MEANING: dict[str, Any] = {
    "none": RULE, "empty": RULE, "null": RULE, "other": RULE, "ten": 10, "half": 0.5, "sixty": 60,
    "off": EVER, "zero": EVER, "text": EVER, "broken": MALFORMED, "array": MALFORMED, "twice": MALFORMED,
}  # fmt: skip


@dataclass(frozen=True)
class World:
    """A database and its policy.

    Attributes:
        key: the kind of table. index: an index led by the age, or none.
        rows: (id, tenant, seq, at, kind).
        references: `t.id` values that a NO ACTION child refers to; cascades: ids with CASCADE children, as (id, held).
    """

    key: str
    index: str
    rows: tuple[tuple[Any, ...], ...]
    tenants: bool
    only: bool
    newest: int
    hold: bool
    references: tuple[Any, ...]
    cascades: tuple[tuple[Any, int], ...]
    mode: Any
    page_rows: int
    rows_changed: int = 10_000

    @property
    def parent(self) -> bool:
        return self.key in ("ipk", "rowid", "without")

    def build(self, path: str = "") -> apsw.Connection:
        con = apsw.Connection(path)
        without = " WITHOUT ROWID" if self.key in ("without", "pair") else ""
        con.execute(f"CREATE TABLE t ({KEYS[self.key].format(words=WORDS)}){without}")
        con.execute("CREATE TABLE ws (id TEXT PRIMARY KEY, doc TEXT)")
        con.execute("CREATE INDEX t_newest ON t (w, seq)")
        if self.index == "age":
            con.execute("CREATE INDEX t_at ON t (at)")
        elif self.index == "age_key":
            con.execute(f"CREATE UNIQUE INDEX t_at ON t (at, {'w, id' if self.key == 'pair' else 'id'})")
        if self.parent:
            kind = "INTEGER" if self.key == "ipk" else "TEXT"
            con.execute(f"CREATE TABLE pin (ref {kind} REFERENCES t(id)); CREATE INDEX pin_ref ON pin (ref)")
            con.execute(f"CREATE TABLE child (ref {kind} REFERENCES t(id) ON DELETE CASCADE, hold INTEGER)")
            con.execute("CREATE INDEX child_ref ON child (ref)")
        con.executemany("INSERT INTO ws VALUES (?, ?)", list(DOCUMENTS.items()))
        con.executemany("INSERT OR IGNORE INTO t (id, w, seq, at, kind) VALUES (?, ?, ?, ?, ?)", self.rows)
        if self.parent:
            con.executemany("INSERT INTO pin SELECT ? WHERE EXISTS (SELECT 1 FROM t WHERE id = ?1)", [(r,) for r in self.references])
            con.executemany("INSERT INTO child SELECT ?, ? WHERE EXISTS (SELECT 1 FROM t WHERE id = ?1)", self.cascades)
        return con

    def policy(self) -> dict[str, Any]:
        rule: dict[str, Any] = {
            "table": "t",
            "keep": f"{KEEP_DAYS}d",
            "age": {"column": "at", "format": "unix_s"},
            "mode": self.mode,
            "page_rows": self.page_rows,
        }
        if self.index != "none":
            rule["walk"] = {"index": "t_at"}
        if self.only:
            rule["only"] = "kind = 'go'"
        if self.newest:
            rule["keep_newest"] = {"rows": self.newest, "per": ["w"], "by": ["seq"]}
        policy: dict[str, Any] = {"version": 1, "rules": [rule], "limits": {"rows_changed": self.rows_changed}}
        if self.tenants:
            rule["tenant"] = {"column": "w", "setting": "days"}
            policy["tenants"] = {"table": "ws", "key": "id", "settings": "doc", "shortest": "1h"}
        if self.hold:
            policy["holds"] = [{"table": "t", "where": "kind = 'held'"}]
            if self.parent:
                policy["holds"].append({"table": "child", "where": "hold = 1"})
        return policy

    # --- the oracle

    def eligible(self, con: apsw.Connection) -> set[Any]:
        """Identities of the rows that may go now, decided row by row in Python."""
        rows = con.execute(f"SELECT {self.identity}, id, w, seq, at, kind FROM t").fetchall()
        documents = dict(con.execute("SELECT id, doc FROM ws").fetchall())
        pinned = {r for (r,) in con.execute("SELECT ref FROM pin")} if self.parent else set()
        protected = {r for (r,) in con.execute("SELECT ref FROM child WHERE hold = 1")} if self.parent and self.hold else set()
        may: set[Any] = set()
        for key, ident, w, seq, at, kind in rows:
            if not self._expired(at, w, documents):
                continue
            if self.only and kind != "go":
                continue
            if self.hold and (kind == "held" or ident in protected):
                continue
            if self.newest and not self._outdone(rows, key, w, seq):
                continue
            if ident in pinned:
                continue
            may.add(key)
        return may

    @property
    def identity(self) -> str:
        return "w || '/' || id" if self.key == "pair" else ("id" if self.key == "without" else "rowid")

    def keys(self, con: apsw.Connection) -> set[Any]:
        return {k for (k,) in con.execute(f"SELECT {self.identity} FROM t")}

    def fixpoint(self) -> set[Any]:
        """Identities that are left once everything that may go has gone, over and over."""
        con = self.build()
        con.execute("PRAGMA foreign_keys = ON")
        while gone := self.eligible(con):
            for key in gone:
                con.execute(f"DELETE FROM t WHERE {self.identity} = ?", (key,))
        return self.keys(con)

    def _expired(self, at: Any, w: Any, documents: dict[Any, Any]) -> bool:
        if isinstance(at, bool) or not isinstance(at, int | float):
            return False
        meaning = _meaning(documents[w]) if self.tenants and w in documents else RULE
        if meaning in (EVER, MALFORMED):
            return False
        days = KEEP_DAYS if meaning == RULE else max(meaning, 1 / 24)
        return at < NOW_S - days * DAY

    def _outdone(self, rows: list[Any], key: Any, w: Any, seq: Any) -> bool:
        """Whether at least `newest` dated, selected rows of the group are newer."""
        newer = 0
        for other, _, w2, seq2, at2, kind2 in rows:
            dated = isinstance(at2, int | float)
            if w2 == w and dated and (not self.only or kind2 == "go") and _after((seq2, other), (seq, key), self.key):
                newer += 1
        return newer >= self.newest


def _after(theirs: Any, mine: Any, key: str) -> bool:
    if theirs[0] != mine[0] or key != "pair":
        return theirs > mine
    return (theirs[1].split("/")[0], int(theirs[1].split("/")[1])) > (mine[1].split("/")[0], int(mine[1].split("/")[1]))


def _meaning(document: str | None) -> Any:
    if document is None or document == "":
        return RULE
    try:
        pairs = json.loads(document, object_pairs_hook=lambda p: p if len({k for k, _ in p}) == len(p) else 1 / 0)
    except (ValueError, ZeroDivisionError):
        return MALFORMED
    if pairs is None:
        return RULE
    if not isinstance(pairs, list) or (pairs and not isinstance(pairs[0], tuple)) or document.strip() == "[]":
        return MALFORMED
    found = dict(pairs)
    if "days" not in found:
        return RULE
    days = found["days"]
    return days if isinstance(days, int | float) and not isinstance(days, bool) and days > 0 else EVER


AGES = st.one_of(
    st.integers(-2, 80).map(lambda d: NOW_S - d * DAY),
    st.sampled_from([NOW_S - KEEP_DAYS * DAY, NOW_S - KEEP_DAYS * DAY - 1, NOW_S - KEEP_DAYS * DAY + 1, NOW_S - 10 * DAY - 1]),
    st.none(),
    st.sampled_from(["soon", "", b"\x00"]),
)


@st.composite
def worlds(draw: st.DrawFn, keys: tuple[str, ...] = tuple(KEYS)) -> World:
    key = draw(st.sampled_from(keys))
    ids: st.SearchStrategy[Any] = (
        st.text("abÄ'\"0", min_size=1, max_size=3)
        if key in ("rowid", "without")
        else st.one_of(st.integers(-5, 60), st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1, 10**12]))
    )
    row = st.tuples(ids, st.sampled_from([*DOCUMENTS, "orphan"]), st.integers(0, 5), AGES, st.sampled_from(["go", "stay", "held"]))
    rows = draw(st.lists(row, max_size=40, unique_by=lambda r: r[0]))
    known = [r[0] for r in rows] or [0]
    return World(
        key=key,
        index=draw(st.sampled_from(["none", "age_key"] if key in ("without", "pair") else ["none", "age", "age_key"])),
        rows=tuple(rows),
        tenants=draw(st.booleans()),
        only=draw(st.booleans()),
        newest=draw(st.sampled_from([0, 0, 1, 2])),
        hold=draw(st.booleans()),
        references=tuple(draw(st.lists(st.sampled_from(known), max_size=3))),
        cascades=tuple(draw(st.lists(st.tuples(st.sampled_from(known), st.integers(0, 1)), max_size=6))),
        mode=draw(st.sampled_from(["range", "range", "chunk", {"chunk": 2}])),
        page_rows=draw(st.integers(1, 9)),
        rows_changed=draw(st.sampled_from([10_000, 10_000, 3])),
    )


def unbounded() -> st.SearchStrategy[World]:
    """Worlds in which no row is kept because too many go with it."""
    return worlds().map(lambda world: replace(world, rows_changed=10_000))
