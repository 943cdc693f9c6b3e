"""A rule, compiled against the schema: pure, no database."""

from __future__ import annotations

from dataclasses import replace

from ..capabilities import Capabilities
from ..errors import PolicyError, Refused
from ..policy.conditions import called, check_names, parse_condition, rewritten
from ..policy.digests import digest
from ..policy.models import Policy, Rule
from ..schema.keys import never_null
from ..schema.model import Schema, Table, fold
from ..statements.ages import age_format
from ..statements.condition import NEWER, Age, Cutoff, Hold, Newest, Shape, TenantKeep, compile_condition
from ..statements.drain import DrainSQL, Node, nodes
from ..statements.pages import PageSQL
from ..statements.quoting import name
from ..steps import Batch, Statement
from .advice import advise
from .certain import all_go
from .drain import drain_cost, holds_below, read_drained
from .family import Family, as_reference, check_parents, comes_back, count_followers, identity, ignores, read_family
from .looks import dear_looks
from .model import RulePlan
from .names import found_column, found_table, prunable
from .tenants import compile_tenant
from .unarchived import check_archives
from .walks import choose_walk

__all__ = ["compile_rule", "write_target"]

CHUNK_PAGE_ROWS = 4_000
"""Rows that chunk mode reads into memory at once, and deletes by one list, unless the rule says otherwise: a write of about 25 ms."""

CHUNKS = 20
"""Deletes in one page where the rule states their size: relaycast's 200 rows in chunks of 10."""

FILE_TARGET, REMOTE_TARGET = 0.025, 0.2
"""Aims for one write, s: design, section 4, "Page size"."""

FILE_PATIENCE, CASCADE_PATIENCE = 0.1, 0.05
"""Of a write of few rows while nobody else uses the file, s: four times the aim, as long as any write may hold the lock. One that
cascades is rolled back there, so it aims at half of that."""


def compile_rule(rule: Rule, policy: Policy, schema: Schema, host: Capabilities, *, tenants: int | None = None) -> RulePlan:
    """The plan of one rule, without what only the database can say.

    Args:
        tenants: how many there are, where a statement may as well read all of them; else None.

    Raises:
        PolicyError: a name that is not there.
        Refused: a table, key or foreign key that cannot be pruned in bounded steps.
    """
    where = f'rule "{rule.name}"'
    table = found_table(schema, rule.table, where)
    prunable(table, where)
    enforced = policy.foreign_keys == "on"
    if host.remote and not enforced:
        raise PolicyError(f'foreign_keys = "off": {host.name} always enforces foreign keys; leave it out.')
    check_archives(rule, policy, schema, table, where)
    below: Node | None = None
    if rule.children == "drain":
        below, family = read_drained(schema, table, enforced, where)
    else:
        family = read_family(schema, table, enforced, rule.children, host, where)
    drained = {node.table for _, node in nodes(below)} if below is not None else set[str]()
    if enforced:
        check_parents(schema, [table, *(schema.tables[name] for name in sorted(drained))], where)
    pruned = {found.name for one in policy.rules if one.enabled and (found := schema.table(one.table)) is not None}
    refilled = comes_back(schema, table, {table.name} if below is None else drained, pruned, enforced)
    walk, why = choose_walk(rule, policy, table, where, refilled=refilled)
    age = None
    if rule.age is not None:
        columns = tuple(found_column(table, c, where, "age column").name for c in rule.age.columns)
        age = Age(columns, age_format(rule.age.format), rule.age.epoch_ms, never_null=any(never_null(table, c) for c in columns))
    reads: set[str] = {r.child for r in family.references}
    if below is not None:
        reads |= {back.table for _, node in nodes(below) for back in node.backs}
    only, named = _only(rule, schema, table, where, reads)
    chunked = rule.mode.kind == "chunk"
    default = policy.limits.page_rows
    if chunked or below is not None:
        default = CHUNK_PAGE_ROWS if rule.mode.chunk is None else rule.mode.chunk * CHUNKS
    max_keys = min(rule.page_rows or default, policy.limits.page_rows)
    # No more tenants than rows: a statement's cost stays in proportion to its page. A drained family's statements are many and small.
    few = tenants is not None and tenants <= max_keys and below is None
    tenant = compile_tenant(rule, policy, schema, table, where, few=few)
    holds = _holds(policy, schema, table, family, below, where, reads)
    newest = _newest(rule, table, where, reads)
    if tenant is not None:
        reads.add(tenant.table)
    shape = Shape(
        table=table.name,
        keep_ms=None if rule.keep == "forever" else rule.keep,
        age=age,
        only=only,
        tenant=tenant,
        holds=holds,
        newest=newest,
        references=family.references,
    )
    guarded = tuple(c.name for c in table.columns) if rule.archive is not None else _guarded(table, age, tenant, named)
    condition = compile_condition(shape)
    drain = None if below is None else DrainSQL(below, condition)
    pages = PageSQL(
        table=table.name,
        walk=walk,
        condition=condition,
        tenant=None if tenant is None else tenant.column,
        children=count_followers(table, family.followers) if host.remote and below is None else None,
        guard=guarded if chunked else (),
        archived=tuple(c.name for c in table.columns) if rule.archive is not None else (),
        identity=identity(table),
        by_rowid=table.rowid is not None,
        metered=host.meters,
        narrow=host.meters,
    )
    max_changes = policy.limits.rows_changed if host.transactions and family.cascades else None
    looks_ahead = host.remote and not chunked and drain is None
    chunk = min(rule.mode.chunk or max_keys, policy.limits.rows_changed) if chunked else None
    return RulePlan(
        name=rule.name,
        table=table.name,
        shape=shape,
        pages=pages,
        why_walk=why,
        advice=None if refilled else advise(rule, policy, schema, table, walk),
        end=_end(shape) if walk.by_age else None,
        chunk=chunk,
        certain=not (host.remote or chunked or drain or rule.ordered or family.followers) and all_go(shape, walk, table),
        drain=drain,
        archive=rule.archive,
        ordered=rule.ordered,
        revisit_ms=rule.revisit,
        max_keys=max_keys,
        max_writes=policy.limits.rows_changed,
        max_pages=rule.max_pages,
        target=write_target(host),
        patience=REMOTE_TARGET if host.remote else CASCADE_PATIENCE if max_changes is not None else FILE_PATIENCE,
        max_changes=max_changes,
        child_keys=len(family.followers) + len(family.references),
        asks_changes=not host.exact_changes,
        looks_ahead=looks_ahead,
        delete_cost=_delete_cost(host, max_changes, looks_ahead) if drain is None else drain_cost(drain, host),
        digest=digest(rule, policy),
        reads=frozenset(reads),
        feeds=family.feeds,
        alters=family.alters,
        refilled=refilled,
        called=_called(rule, policy, schema, table),
        recounts=drain is None and (family.recounts if chunked else ignores(table)),
        notes=(*_notes(table, family, frozenset(reads), below), *dear_looks(policy, schema, table, shape)),
    )


def write_target(host: Capabilities) -> float:
    """How long one write should take, s."""
    return REMOTE_TARGET if host.remote else FILE_TARGET


def _delete_cost(host: Capabilities, max_changes: int | None, looks_ahead: bool) -> int:
    """Statements of one delete: with `SELECT changes()`, the next boundary, BEGIN and COMMIT, where the host needs them."""
    statements = 1 + (not host.exact_changes) + looks_ahead
    return host.cost(Batch((Statement(""),) * statements, writes=True, max_changes=max_changes))


def _end(shape: Shape) -> Cutoff | None:
    if shape.age is None or shape.newest_keep_ms is None:
        return None
    form = shape.age.format
    return Cutoff(shape.newest_keep_ms, replace(form, encode=form.seek or form.encode), shape.age.epoch_ms)


def _only(rule: Rule, schema: Schema, table: Table, where: str, reads: set[str]) -> tuple[str | None, tuple[str, ...]]:
    if rule.only is None:
        return None, ()
    condition = parse_condition(rule.only, table.name, f"{where}: only")
    names = check_names(condition, schema, table)
    reads |= set(names.tables)
    return condition.text, names.columns


def _called(rule: Rule, policy: Policy, schema: Schema, table: Table) -> frozenset[str]:
    """By which names the rule's `only` and the holds call its table."""
    texts = [(rule.only, table.name)] if rule.only is not None else []
    texts += [(hold.where, held.name) for hold in policy.holds if (held := schema.table(hold.table)) is not None]
    return frozenset[str]().union(*(called(parse_condition(text, about), schema, table) for text, about in texts))


def _holds(
    policy: Policy, schema: Schema, table: Table, family: Family, below: Node | None, where: str, reads: set[str]
) -> tuple[Hold, ...]:
    found: list[Hold] = []
    for place, hold in enumerate(policy.holds):
        here = f"holds[{place}]"
        held = found_table(schema, hold.table, here)
        condition = parse_condition(hold.where, held.name, f"{here}: where")
        names = check_names(condition, schema, held)
        if held.name in family.deep:
            raise Refused(
                f"{where}: a held row of {held.name!r} could go or change with a row of {table.name!r} over more than one level of foreign "
                f'keys, which the hold does not see; write children = "drain", which looks that far, or disable this rule.',
                "policy",
            )
        if held.name == table.name:
            reads |= set(names.tables)
            found.append(Hold(condition.text))
        for key in family.followers:
            if key.child == held.name:
                reads |= {held.name, *names.tables}
                reference = as_reference(key, table)
                text = rewritten(condition, "retention_child") if reference.own_key else condition.text
                found.append(Hold(text, reference))
        if below is not None:
            found += holds_below(below, schema, held, condition, reads)
    return tuple(found)


def _newest(rule: Rule, table: Table, where: str, reads: set[str]) -> Newest | None:
    if rule.keep_newest is None:
        return None
    per = tuple(found_column(table, c, where, "keep_newest column").name for c in rule.keep_newest.per)
    by_names = rule.keep_newest.by or (rule.age.columns if rule.age is not None else ())
    by = tuple(found_column(table, c, where, "keep_newest column").name for c in by_names)
    unique = _newest_index(table, per, by)
    if unique is None:
        columns = ", ".join(name(c) for c in (*per, *by))
        index = name(f"{table.name}_{'_'.join((*per, *by))}")
        raise Refused(
            f"{where}: keep_newest needs an index to find the newest rows of a group without counting it; "
            f"create one: CREATE INDEX {index} ON {name(table.name)} ({columns}).",
            "schema",
        )
    reads.add(table.name)
    only = None
    if rule.only is not None:
        only = rewritten(parse_condition(rule.only, table.name, f"{where}: only"), NEWER)
    return Newest(rule.keep_newest.rows, per, by, () if unique else identity(table), only)


def _newest_index(table: Table, per: tuple[str, ...], by: tuple[str, ...]) -> bool | None:
    """Whether (per, by) names one row, so that no key must break ties; None where there is no index over it."""
    if not per and by == (table.integer_pk,):
        return True
    answers: list[bool] = []
    for index in table.indexes:
        columns = tuple(c.name or "" for c in index.columns)
        order = columns[len(per) : len(per) + len(by)]
        directions = {c.descending for c in index.columns[len(per) : len(per) + len(by)]}
        if not index.partial and {fold(c) for c in columns[: len(per)]} == {fold(c) for c in per} and order == by and len(directions) <= 1:
            whole = index.unique and len(columns) == len(per) + len(by)
            # UNIQUE holds among rows without NULL only.
            answers.append(table.integer_pk in by or (whole and all(c.notnull for c in table.columns if c.name in columns)))
    return None if not answers else any(answers)


def _guarded(table: Table, age: Age | None, tenant: TenantKeep | None, named: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that chunk mode compares: those that decide, and those that name the row, but for the rowid, by which it is looked up."""
    chosen = [
        *(c for c in table.primary_key if c != table.integer_pk),
        *(age.columns if age else ()),
        *((tenant.column,) if tenant else ()),
        *named,
    ]
    return tuple(c.name for c in table.columns if c.name in chosen)


def _notes(table: Table, family: Family, reads: frozenset[str], below: Node | None) -> tuple[str, ...]:
    notes: list[str] = []
    both = (family.feeds - {table.name}) & reads
    if both:
        notes.append(f"deleting from {table.name} also changes {', '.join(sorted(both))}, which the condition reads")
    if table.name in family.alters:
        notes.append(f"a trigger writes to {table.name} when its rows go, which the condition reads again in further traversals")
    if family.followers:
        followers = sorted({f"{k.child} ({k.on_delete})" for k in family.followers})
        notes.append(f"rows of {', '.join(followers)} go or change with their parent")
    if below is not None and below.edges:
        drained = dict.fromkeys(node.table for path, node in nodes(below) if path)
        notes.append(f"rows of {', '.join(drained)} go with their parent")
    return tuple(notes)
