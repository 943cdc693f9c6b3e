"""A short digest of what a rule decides, by which a stored cursor is known to be of the same rule."""

from __future__ import annotations

import hashlib
import json

from .models import Policy, Rule

__all__ = ["digest"]


def digest(rule: Rule, policy: Policy) -> str:
    """16 hex digits over everything that decides which rows the rule deletes and in which order it visits them.

    Names, limits, page sizes, mode, archive, `revisit`, `plausible` and `enabled` decide neither. Two ways to write the same thing
    (one column or a list of one, `by` left out or equal to the age's columns, holds in another order) have the same digest.
    """
    age, tenant, newest = rule.age, rule.tenant, rule.keep_newest
    columns = age.columns if age else ()
    tenants = policy.tenants if tenant else None
    decisive = {
        "table": rule.table,
        "keep": rule.keep,
        "age": [columns, age.format, age.epoch_ms] if age else None,
        "only": rule.only.strip() if rule.only else None,
        "tenant": [tenant.column, tenant.setting, tenant.days] if tenant else None,
        "tenants": [tenants.table, tenants.key, tenants.settings, tenants.shortest] if tenants else None,
        "keep_newest": [newest.rows, newest.per, newest.by or columns] if newest else None,
        "holds": sorted([hold.table, hold.where.strip()] for hold in policy.holds),
        "walk": [rule.walk.kind, rule.walk.index] if rule.walk else None,
        "ordered": rule.ordered,
        "children": rule.children,
        "foreign_keys": policy.foreign_keys,
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]
