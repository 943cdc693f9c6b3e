"""Catalogue entries that have no counterpart, and why."""

from __future__ import annotations

__all__ = ["NO_COUNTERPART"]

NO_COUNTERPART: dict[str, str] = {
    "AR-23": "its cursor names a workspace and a cutoff; ours belongs to a rule, and a changed rule restarts by its digest",
    "AR-24": "HTTP status codes of its endpoint: tokens, and bounds of the request's fields. There is no endpoint here",
    "AR-25": "options, progress file and pages of its command line; `retention run` has exit statuses and a checkpoint of its own",
    "AR-26": "--limit of its command line; here a run is bounded by statements, pages and time",
    "AR-27": "--limit of its command line; limits here are checked by the policy models",
    "AR-28": "a preview's state given to a delete; here `plan` leaves no state behind",
}
"""By id. What these entries protect is the original's interface, and no row."""
