"""A rule's tenant, found in the schema: where its keep stands, and how it is looked up."""

from __future__ import annotations

from ..errors import PolicyError, Refused
from ..policy.models import Policy, Rule
from ..schema.foreign_keys import NUMBERS
from ..schema.model import Column, Schema, Table
from ..statements.condition import KEEPS, TenantKeep
from ..statements.quoting import name
from .names import found_column, found_table

__all__ = ["compile_tenant"]


def compile_tenant(rule: Rule, policy: Policy, schema: Schema, table: Table, where: str, *, few: bool) -> TenantKeep | None:
    """What a rule's `tenant` asks of the tenants' table; None where it asks nothing.

    Args:
        few: a statement may as well read all tenants.

    Raises:
        PolicyError: a name that is not there, a key that is not unique.
        Refused: a key that cannot be looked up.
    """
    if rule.tenant is None or policy.tenants is None:
        return None
    tenants = found_table(schema, policy.tenants.table, "[tenants]")
    tenant_key = found_column(tenants, policy.tenants.key, "[tenants]", "key")
    key = tenant_key.name
    if not _unique(tenants, tenant_key):
        compared = "" if tenant_key.collation == "BINARY" else f" as it is compared ({tenant_key.collation})"
        raise PolicyError(
            f"[tenants]: {key!r} is not unique in {tenants.name!r}{compared}, so a row could have two keeps; "
            f"name its primary key, or a column with a UNIQUE index of its own collation."
        )

    def named(column: str | None, what: str) -> str | None:
        return None if column is None else found_column(tenants, column, "[tenants]" if what == "settings" else where, what).name

    own = found_column(table, rule.tenant.column, where, "tenant column")
    _check_comparable(own, table, tenant_key, tenants, where)
    return TenantKeep(
        column=own.name,
        table=tenants.name,
        key=key,
        settings=None if rule.tenant.setting is None else named(policy.tenants.settings, "settings"),
        setting=rule.tenant.setting,
        days=named(rule.tenant.days, "days column"),
        shortest_ms=policy.tenants.shortest or 0,
        # SQLite indexes the common table only where the two compare without converting either (sqlite.org/optoverview.html, section 12).
        at_once=few and own.affinity == tenant_key.affinity and schema.table(KEEPS) is None and tenants.name != table.name,
        own=tenants.name == table.name,
    )


def _unique(table: Table, column: Column) -> bool:
    """Whether a look-up by the column, which compares by its own collation, finds one row at most, and has an index."""
    if table.integer_pk == column.name:
        return True
    keys = [index.columns[0] for index in table.indexes if index.unique and not index.partial and len(index.columns) == 1]
    return any(key.name == column.name and key.collation == column.collation for key in keys)


def _check_comparable(own: Column, table: Table, key: Column, tenants: Table, where: str) -> None:
    """Raises Refused where the tenant's row cannot be looked up: SQLite compares a number with a text as numbers, for which no index of
    texts serves (sqlite.org/datatype3.html, section 4.2)."""
    if own.affinity not in NUMBERS or key.affinity in NUMBERS:
        return
    # A column without a type keeps the values as they are; a real number as text would be another tenant's name.
    made = f"TEXT AS (CAST({name(own.name)} AS TEXT))" if key.affinity == "TEXT" else f"AS ({name(own.name)})"
    alter = f"ALTER TABLE {name(table.name)} ADD COLUMN {name(f'{own.name}_as_key')} {made}"
    other = "" if own.affinity == "REAL" else f", or name a column that has it, which costs no space: {alter}"
    raise Refused(
        f"{where}: tenant column {own.name!r} is declared {own.declared!r}, a number, and the key {key.name!r} of {tenants.name!r} is "
        f"declared {key.declared!r}, which is none. No index can serve a look-up between the two, so each row would scan {tenants.name!r}; "
        f"declare one type on both sides{other}.",
        "schema",
    )
