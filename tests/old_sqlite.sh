#!/bin/sh
# Puts an apsw with SQLite 3.47, which D1 runs, into tests/.old_sqlite, for the tests that run on both ends of what is supported.
set -eu
cd "$(dirname "$0")"
python=../.venv/bin/python
[ -x "$python" ] || python=python3
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .old_sqlite apsw==3.47.2.0
echo '*' > .old_sqlite/.gitignore
