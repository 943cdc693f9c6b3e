"""Hosts: what executes batches. A host's libraries are loaded when one of its databases is opened."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import unquote

from ..errors import PolicyError
from .base import AsyncHost, Host

__all__ = ["AsyncHost", "Host", "is_remote", "open_async_host", "open_host"]

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_D1 = re.compile(r"d1://([^/?#]+)/([^/?#]+)/?", re.IGNORECASE)

ForeignKeys = Literal["on", "off"]


def is_remote(target: str) -> bool:
    """Whether a target names a database behind HTTP, not a file."""
    return _SCHEME.match(target) is not None


def open_host(target: str, *, readonly: bool = False, foreign_keys: ForeignKeys = "on") -> Host:
    """The database that a command's argument names.

    Args:
        target: a path, `d1://ACCOUNT/DATABASE` (ID or name) or `libsql://HOST[:PORT]`. Tokens come from the environment.
        readonly: open it for reading only: enough for plan and audit.
        foreign_keys: whether our connection enforces them; remote hosts always do.

    Raises:
        PolicyError: no such file, an address of an unknown form, a token that is missing.
        HostError: the file cannot be used.
    """
    scheme = _remote_scheme(target, foreign_keys)
    if scheme is None:
        from .sqlite import SQLite

        return SQLite(target, readonly=readonly, foreign_keys=foreign_keys)
    from .http import Options

    options = Options(readonly=readonly)
    if scheme == "d1":
        from .d1 import D1

        return D1(*_d1_parts(target), options=options)
    from .libsql import LibSQL

    return LibSQL(target, options=options)


def open_async_host(target: str, *, readonly: bool = False, foreign_keys: ForeignKeys = "on") -> AsyncHost:
    """As `open_host`, for asynchronous callers. A file's statements run in a thread of their own."""
    scheme = _remote_scheme(target, foreign_keys)
    if scheme is None:
        from .threaded import Threaded

        return Threaded(open_host(target, readonly=readonly, foreign_keys=foreign_keys))
    from .http import Options

    options = Options(readonly=readonly)
    if scheme == "d1":
        from .d1 import AsyncD1

        return AsyncD1(*_d1_parts(target), options=options)
    from .libsql import AsyncLibSQL

    return AsyncLibSQL(target, options=options)


def _remote_scheme(target: str, foreign_keys: ForeignKeys) -> str | None:
    """`d1`, `libsql`, or None for a path."""
    found = _SCHEME.match(target)
    if found is None:
        return None
    scheme = found[1].lower()
    if scheme not in ("d1", "libsql"):
        raise PolicyError(f"{scheme}:// is no kind of database known here; give a path, d1://ACCOUNT/DATABASE or libsql://HOST[:PORT]")
    if foreign_keys == "off":
        raise PolicyError(f'foreign keys are always enforced on {scheme}; leave out foreign_keys = "off"')
    return scheme


def _d1_parts(target: str) -> tuple[str, str]:
    found = _D1.fullmatch(target)
    if found is None:
        raise PolicyError("a D1 database is written d1://ACCOUNT/DATABASE: the account's ID, then the database's ID or name")
    if set("@:") & set(unquote(found[1])):
        raise PolicyError("a D1 address holds no user name, password or token; the token is read from CLOUDFLARE_API_TOKEN")
    return unquote(found[1]), unquote(found[2])
