"""`python -m retention.cli`."""

from __future__ import annotations

from . import main

main()
