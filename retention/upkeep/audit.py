"""What a schema and a policy mean for each other, before anything runs: `retention audit`.

Each check is a function from the two to findings; `_CHECKS` lists them. Nothing is read but values: no statement is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from ..errors import RetentionError
from ..plan.advice import ORDERED, advise
from ..plan.drain import read_drained
from ..plan.left_out import left_out
from ..plan.unarchived import unarchived
from ..plan.walks import choose_walk
from ..policy.closure_models import Closure
from ..policy.models import Policy, Rule
from ..schema.ddl import virtual_module
from ..schema.foreign_keys import Reach, child_index, reach
from ..schema.guess import lasting, role, words
from ..schema.model import ForeignKey, Schema, Table, Trigger, fold

__all__ = ["Audit", "Finding", "Severity", "audit"]

Severity = Literal["problem", "advice", "note"]
"""`problem`: a run is refused, fails or leaves something wrong; `advice`: worth doing; `note`: worth knowing."""

_SEVERITIES: tuple[Severity, ...] = ("problem", "advice", "note")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a person should know.

    Attributes:
        severity: how much it matters.
        code: the check's name, stable for programs.
        table: the table that it is about.
        what: what was found.
        why: what follows from it.
        fix: what to do about it, or "" where nothing has to be done.
        sql: the statement that does it, or None.
    """

    severity: Severity
    code: str
    table: str
    what: str
    why: str
    fix: str = ""
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings, the most severe first, each kind in the schema's order."""

    findings: tuple[Finding, ...]

    def of(self, code: str) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.code == code)


@dataclass(frozen=True, slots=True)
class _Scene:
    """What every check looks at. `ruled` has the rules of each table, disabled ones too, because they wait to be enabled."""

    schema: Schema
    policy: Policy
    ruled: tuple[tuple[Table, tuple[Rule, ...]], ...]

    def walk(self, rule: Rule, table: Table) -> str | None:
        """The kind of walk that the planner takes, or None where it refuses."""
        try:
            return choose_walk(rule, self.policy, table, rule.name)[0].kind
        except RetentionError:
            return None

    def age_index(self, rule: Rule, table: Table) -> str | None:
        """The CREATE INDEX that would spare the rule its kept history, or None."""
        try:
            advice = advise(rule, self.policy, self.schema, table, choose_walk(rule, self.policy, table, rule.name)[0])
        except RetentionError:
            return None
        return None if advice == ORDERED else advice

    def reached(self, table: Table) -> tuple[Reach, ...]:
        """What a DELETE from `table` changes through foreign keys that are enforced."""
        return reach(self.schema, table.name) if self.policy.foreign_keys == "on" else ()

    def drained(self, table: Table, rules: Iterable[Rule]) -> tuple[Table, ...]:
        """The tables below `table` from which one of its rules deletes by `children = "drain"`, whatever their keys declare."""
        found = {table.name: table}
        todo = [table] if any(rule.children == "drain" for rule in rules) else []
        while todo:
            below = {key.child: self.schema.tables[key.child] for key in todo.pop().children}
            todo += [child for name, child in below.items() if name not in found]
            found |= below
        return tuple(child for name, child in found.items() if name != table.name)

    def taken(self, table: Table, rules: Iterable[Rule]) -> tuple[Table, ...]:
        """The tables whose rows go with those of `table`, by cascades or drained; itself too, where it cascades to itself."""
        cascaded = [self.schema.tables[step.key.child] for step in self.reached(table) if step.key.on_delete == "CASCADE"]
        return tuple({child.name: child for child in (*cascaded, *self.drained(table, rules))}.values())

    def deleting(self) -> tuple[Table, ...]:
        """The tables from which a rule deletes, by itself, through cascades, or by draining."""
        taken = [child for table, rules in self.ruled for child in self.taken(table, rules)]
        return tuple({table.name: table for table in [*(table for table, _ in self.ruled), *taken]}.values())


Check = Callable[[_Scene], Iterator[Finding]]


def audit(schema: Schema, policy: Policy) -> Audit:
    """Compare a schema with a policy.

    Args:
        schema: as read from the database.
        policy: its disabled rules are looked at too, but cover no table.
    """
    ruled: dict[str, list[Rule]] = {}
    for rule in policy.rules:
        ruled.setdefault(fold(rule.table), []).append(rule)
    tables = tuple((table, tuple(ruled[fold(table.name)])) for table in schema.tables.values() if fold(table.name) in ruled)
    scene = _Scene(schema, policy, tables)
    found = [finding for check in _CHECKS for finding in check(scene)]
    places = {fold(name): place for place, name in enumerate(schema.tables)}
    found.sort(key=lambda finding: (_SEVERITIES.index(finding.severity), places.get(fold(finding.table), -1)))
    return Audit(tuple(dict.fromkeys(found)))


# --- what a rule can work on -----------------------------------------------------------------------------------------


def _rule_tables(scene: _Scene) -> Iterator[Finding]:
    """A rule's table must be there, be an ordinary table, and have a walk."""
    for rule in scene.policy.rules:
        table = scene.schema.table(rule.table)
        if table is None:
            yield Finding(
                "problem",
                "no_table",
                rule.table,
                f"Rule {rule.name!r} names a table that is not there.",
                "The run is refused.",
                "Correct the name, or take the rule out.",
            )
        elif table.kind != "table":
            yield Finding(
                "problem",
                "no_table",
                table.name,
                f"Rule {rule.name!r} is over a {table.kind}.",
                "Only an ordinary table has rows of its own that can go.",
                "Write the rule over the table beneath it.",
            )
        else:
            try:
                choose_walk(rule, scene.policy, table, f"rule {rule.name!r}")
            except RetentionError as error:
                yield Finding("problem", "no_walk", table.name, str(error), "The run is refused.", "Do what the message says.")


def _foreign_keys(scene: _Scene) -> Iterator[Finding]:
    """Keys that make SQLite refuse every DELETE from a rule's table, or from one whose rows go with it."""
    for table in scene.deleting() if scene.policy.foreign_keys == "on" else ():
        for key in (*table.parents, *table.children):
            if not key.parent_exists:
                yield Finding(
                    "problem",
                    "broken_key",
                    table.name,
                    f"{_text(key)}, but there is no table {key.parent!r}.",
                    "With foreign keys on, SQLite refuses every DELETE from the child.",
                    'Create the table, or write foreign_keys = "off".',
                )
            elif not key.parent_columns:
                yield Finding(
                    "problem",
                    "broken_key",
                    table.name,
                    f"{_text(key)}, whose primary key does not fit.",
                    'SQLite answers a DELETE on either side with "foreign key mismatch".',
                    'Name the parent\'s columns in the key, or write foreign_keys = "off".',
                )


def _child_indexes(scene: _Scene) -> Iterator[Finding]:
    """Child keys without an index. Where a rule deletes parents, each deleted row reads the whole child table."""
    deleting = {fold(table.name) for table in scene.deleting()} if scene.policy.foreign_keys == "on" else set[str]()
    for table, rules in scene.ruled:
        drained = scene.drained(table, rules)
        deleting |= {fold(part.name) for part in (table, *drained) if drained}
    for table in scene.schema.tables.values():
        for key in table.parents:
            if key.indexed or not key.parent_columns:
                continue
            active = fold(key.parent) in deleting
            sql = child_index(scene.schema, key)
            yield Finding(
                "problem" if active else "note",
                "child_index",
                table.name,
                f"{_text(key)}, and no index of {table.name!r} serves the look-up.",
                f"Each row deleted from {key.parent!r} reads all of {table.name!r}" + ("; the run is refused." if active else "."),
                "Create the index."
                if sql
                else "Declare the column with its parent's type: SQLite cannot use an index of another affinity.",
                sql,
            )


# --- what nobody deletes ---------------------------------------------------------------------------------------------


def _parts(closure: Closure) -> Iterator[str]:
    """The members that go with the parent or, as memory, by a keep of their own."""
    return (member.table for member in closure.members if not member.memory or member.keep != "forever")


def _uncovered(scene: _Scene) -> Iterator[Finding]:
    """Tables from which nothing is ever deleted."""
    enabled = {fold(rule.table) for rule in scene.policy.rules if rule.enabled}
    enabled |= {fold(name) for closure in scene.policy.closures if closure.enabled for name in (closure.table, *_parts(closure))}
    disabled = {fold(rule.table) for rule in scene.policy.rules if not rule.enabled} - enabled
    named = {fold(name) for name in _named_tables(scene.policy)}
    followers = {
        fold(child.name): table.name
        for table, rules in reversed(scene.ruled)
        if fold(table.name) in enabled
        for child in scene.taken(table, (rule for rule in rules if rule.enabled))
    }
    for table in scene.schema.tables.values():
        name = fold(table.name)
        if table.kind != "table" or name in enabled or name in named:
            continue
        if name in followers:
            yield Finding(
                "note",
                "uncovered",
                table.name,
                "No rule covers it; its rows go with their parents.",
                f"A row stays as long as its parent, which a rule on {followers[name]!r} reaches.",
            )
            continue
        what = "Only disabled rules cover it." if name in disabled else "No rule covers it."
        dated = any(role(column, key=False) for column in table.columns)
        if name in disabled or (dated and not lasting(table.name)):
            fix = 'Add or enable a rule; one with keep = "forever" says that its rows stay.'
            yield Finding("advice", "uncovered", table.name, what, "It grows as long as rows are added.", fix)
        else:
            why = "By its name its rows stay." if dated else "No column looks like a time."
            yield Finding("note", "uncovered", table.name, what, why)


def _left_out(scene: _Scene) -> Iterator[Finding]:
    """Tables whose rows seem to belong to a closure's units, and stay when those have gone."""
    for closure in scene.policy.closures:
        for table, column in left_out(closure, scene.schema):
            yield Finding(
                "advice",
                "left_out",
                table,
                f"Its {column!r} seems to tie its rows to {closure.table!r}, and closure {closure.name!r} does not name it.",
                "Its rows stay when the unit that they belong to has gone.",
                "Add it to the closure's members; with memory = true, where its rows are to stay.",
            )


def _named_tables(policy: Policy) -> Iterator[str]:
    """The tables that other parts of the policy name: tenants, the lease, sweeps, closures, an event log, claims."""
    data = policy.model_dump(exclude={"rules", "holds", "limits"})
    yield from _tables(data)


def _tables(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in cast("dict[str, Any]", data).items():
            if key in ("table", "binding") and isinstance(value, str):
                yield value
            else:
                yield from _tables(value)
    elif isinstance(data, list | tuple):
        for value in cast("list[Any]", data):
            yield from _tables(value)


# --- what else a delete changes --------------------------------------------------------------------------------------


def _cascades(scene: _Scene) -> Iterator[Finding]:
    """Tables that change with a rule's table through foreign keys, by level, and rules that do not want any."""
    for table, rules in scene.ruled:
        drained = scene.drained(table, rules)
        if drained:
            yield Finding(
                "note",
                "drain",
                table.name,
                f"Its rows go with all that refers to them: {', '.join(child.name for child in drained)}.",
                "Fresh rows go with an old parent, whatever their keys declare, in pages within rows_changed a write.",
                "Check that this is meant.",
            )
        if all(rule.children == "drain" for rule in rules):
            continue
        levels: dict[int, list[str]] = {}
        for step in scene.reached(table):
            columns = ", ".join(step.key.columns)
            levels.setdefault(step.level, []).append(f"{step.key.child} ({columns}, {step.key.on_delete})")
        if levels:
            told = "; ".join(f"level {level}: {', '.join(children)}" for level, children in levels.items())
            yield Finding(
                "note",
                "cascade",
                table.name,
                f"A DELETE reaches other rows through foreign keys: {told}.",
                "Fresh rows go or change with an old parent, within rows_changed a write; a remote host takes one level only.",
                "Check that this is meant.",
            )
        refusing = [rule.name for rule in rules if rule.children == "refuse"]
        if refusing and table.children and scene.policy.foreign_keys == "on":
            children = ", ".join(dict.fromkeys(key.child for key in table.children))
            yield Finding(
                "problem",
                "children",
                table.name,
                f'Rule {refusing[0]!r} says children = "refuse", and {children} refer to its table.',
                "The run is refused.",
                "Leave the key out if the declared actions are meant to happen.",
            )


def _drains(scene: _Scene) -> Iterator[Finding]:
    """Families that cannot be drained, for other reasons than the keys without an index that `_child_indexes` tells of."""
    for table, rules in scene.ruled:
        family = (table, *scene.drained(table, rules))
        if len(family) == 1 or not all(key.indexed for part in family for key in part.children):
            continue
        try:
            read_drained(scene.schema, table, scene.policy.foreign_keys == "on", f"table {table.name!r}")
        except RetentionError as error:
            yield Finding("problem", "drain", table.name, str(error), "The run is refused.", "Do what the message says.")


def _archives(scene: _Scene) -> Iterator[Finding]:
    """Archives hold the rows that their own rule deletes. Rows that go with others are gone without."""
    archived = {table.name for table, rules in scene.ruled if any(rule.archive is not None for rule in rules)}
    for table, rules in scene.ruled:
        refused = {key.child for rule in rules for key in unarchived(rule, scene.policy, scene.schema, table)}
        for child in scene.taken(table, rules):
            if table.name not in archived and child.name not in archived:
                continue
            whose = "Its rows are archived" if child.name in archived else f"The rows of {table.name!r} are archived"
            first = "" if child.name == table.name else f"Give {child.name!r} a rule with an archive, before the one on {table.name!r}. "
            yield Finding(
                "problem" if child.name in refused else "advice",
                "archive",
                child.name,
                f"{whose}, but those of {child.name!r} that go with a row of {table.name!r} are not.",
                "Rows that go by cascade, or are drained, are in no archive."
                + (' The run is refused until the rule says children = "cascade".' if child.name in refused else ""),
                first + 'Delete only parents that have no such rows left (only = "NOT EXISTS (SELECT 1 FROM ...)").',
            )


def _triggers(scene: _Scene) -> Iterator[Finding]:
    """Triggers that a rule's DELETE fires and that write to other tables."""
    for table, _ in scene.ruled:
        for owner, trigger in _fired(scene, table):
            others = [name for name in trigger.writes if fold(name) != fold(owner.name) and not _is_fts(scene.schema.table(name))]
            if others:
                yield Finding(
                    "note",
                    "trigger",
                    owner.name,
                    f"Trigger {trigger.name!r} ({trigger.event}) writes to {', '.join(others)}.",
                    f"A rule on {table.name!r} fires it for each row; what it changes counts as side_changes and towards rows_changed.",
                    "Check that this is meant for rows that go by age.",
                )


def _fired(scene: _Scene, table: Table) -> Iterator[tuple[Table, Trigger]]:
    """The triggers that a DELETE from `table` fires: its own, those of rows that go with it, and those of rows that it changes."""
    events = [(table, "DELETE")]
    for step in scene.reached(table):
        child = scene.schema.table(step.key.child)
        if child is not None:
            events.append((child, "DELETE" if step.key.on_delete == "CASCADE" else "UPDATE"))
    for owner, event in dict.fromkeys((owner.name, event) for owner, event in events):
        found = scene.schema.tables[owner]
        yield from ((found, trigger) for trigger in found.triggers if trigger.event == event)


def _is_fts(table: Table | None) -> bool:
    return table is not None and table.kind == "virtual" and virtual_module(table.sql or "")[0].startswith("fts")


def _full_text(scene: _Scene) -> Iterator[Finding]:
    """Full-text indexes over a rule's table: kept by triggers, or left behind."""
    indexes = [table for table in scene.schema.tables.values() if _is_fts(table)]
    for table in scene.deleting():
        kept = {fold(name) for trigger in table.triggers if trigger.event == "DELETE" for name in trigger.writes}
        for index in indexes:
            content = virtual_module(index.sql or "")[1].get("content", "")
            if fold(index.name) in kept:
                yield Finding(
                    "note",
                    "full_text",
                    table.name,
                    f"A trigger keeps the full-text index {index.name!r} in step.",
                    "Each deleted row is taken out of it too, which costs several writes a row, counted as side_changes.",
                )
            elif fold(content) == fold(table.name):
                yield Finding(
                    "advice",
                    "full_text",
                    table.name,
                    f"The full-text index {index.name!r} reads from it, and no DELETE trigger keeps it.",
                    "Rows that go stay in the index: a search finds text that is not there any more.",
                    "Add an AFTER DELETE trigger that takes the row out of the index (sqlite.org/fts5.html, section 4.4.3).",
                )


# --- keys and speed --------------------------------------------------------------------------------------------------


def _row_numbers(scene: _Scene) -> Iterator[Finding]:
    """Rowids that are not stable: progress is kept by rowid."""
    for table, rules in scene.ruled:
        if table.integer_pk is None and any(scene.walk(rule, table) == "rowid" for rule in rules):
            yield Finding(
                "note",
                "rowid",
                table.name,
                "It has rowids, but no INTEGER PRIMARY KEY that fixes them.",
                "VACUUM may number its rows anew. Progress may then begin again; nothing is deleted that should stay.",
            )


_LOG_WORDS = frozenset(("event", "log", "outbox", "journal", "message", "change", "notification"))
_CURSOR_WORDS = frozenset(("cursor", "offset", "consumer", "checkpoint", "watermark", "ack"))


def _reused_ids(scene: _Scene) -> Iterator[Finding]:
    """A log whose readers keep a position, without AUTOINCREMENT: the id of a deleted newest row is used again."""
    singular = {name: {word.removesuffix("s") for word in words(name)} for name in scene.schema.tables}
    for table, _ in scene.ruled:
        if table.integer_pk is None or table.autoincrement or not singular[table.name] & _LOG_WORDS:
            continue
        readers = [name for name, said in singular.items() if said & _CURSOR_WORDS and said & singular[table.name] & _LOG_WORDS]
        if readers:
            yield Finding(
                "advice",
                "reused_ids",
                table.name,
                f"Its ids are not AUTOINCREMENT, and {', '.join(readers)} seems to keep positions in it.",
                "Once its newest rows are deleted SQLite uses their ids again, and a reader that is past them never sees the new rows.",
                "Declare the key INTEGER PRIMARY KEY AUTOINCREMENT, or keep the newest row (keep_newest = { rows = 1 }).",
            )


def _age_indexes(scene: _Scene) -> Iterator[Finding]:
    """Rules that read their kept history once a traversal, where an index led by the age would spare it."""
    for table, rules in scene.ruled:
        for rule in rules:
            sql = scene.age_index(rule, table)
            if sql is None or rule.age is None:
                continue
            yield Finding(
                "advice",
                "age_index",
                table.name,
                f"Rule {rule.name!r} has no index led by {rule.age.columns[0]!r}.",
                "Each traversal reads the whole table, kept rows too; with the index it reads only rows that are old enough.",
                "Create the index if most rows stay, or write ordered = true if the age never falls along the key.",
                sql,
            )


def _text(key: ForeignKey) -> str:
    target = f" ({', '.join(key.parent_columns)})" if key.parent_columns else ""
    return f"{key.child} ({', '.join(key.columns)}) refers to {key.parent}{target}"


_CHECKS: tuple[Check, ...] = (
    _rule_tables,
    _foreign_keys,
    _child_indexes,
    _uncovered,
    _left_out,
    _cascades,
    _drains,
    _archives,
    _triggers,
    _full_text,
    _row_numbers,
    _reused_ids,
    _age_indexes,
)
