#!/bin/sh
# Each guard taken away in turn must make a named test fail. Some minutes; not a part of the tests, but of all checks.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
[ -x "$python" ] || python=python3
exec "$python" -m tests.mutants "$@"
