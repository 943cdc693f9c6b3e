"""A database as SQL, to make the same one on another host."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

MAX_BYTES = 90_000
"""Of one statement; D1 takes 100,000."""


def script(db: apsw.Connection) -> tuple[str, ...]:
    """Statements that make an empty database equal to `db`, rowids included. Full-text indexes over content are rebuilt.

    Send them as one batch: keys between tables hold only at its end.
    """
    listed = db.execute("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'").fetchall()
    kinds, keyed = {name: kind for name, kind, _ in listed}, {name for name, _, without_rowid in listed if without_rowid}
    objects = list(
        db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    )
    made = [sql for kind, name, sql in objects if kind == "table" and kinds[name] != "shadow"]
    rows = [
        insert for kind, name, _ in objects if kind == "table" and kinds[name] == "table" for insert in _inserts(db, name, name in keyed)
    ]
    rebuilt = [f'INSERT INTO "{name}" ("{name}") VALUES (\'rebuild\')' for name, kind in kinds.items() if kind == "virtual"]
    indexes, triggers = ([sql for kind, _, sql in objects if kind == wanted] for wanted in ("index", "trigger"))
    return ("PRAGMA defer_foreign_keys = on", *made, *indexes, *rows, *rebuilt, *triggers)


def _inserts(db: apsw.Connection, table: str, without_rowid: bool) -> Iterator[str]:
    columns = [f'"{name}"' for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    columns = columns if without_rowid else ["rowid", *columns]
    head = f'INSERT INTO "{table}" ({", ".join(columns)}) VALUES '
    text = ""
    for values in db.execute(f'SELECT {", ".join(f"quote({c})" for c in columns)} FROM "{table}"'):
        row = f"({', '.join(map(str, values))})"
        if text and len(head) + len(text) + len(row) > MAX_BYTES:
            yield head + text
            text = ""
        text += (", " if text else "") + row
    if text:
        yield head + text
