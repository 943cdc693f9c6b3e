#!/bin/sh
# Installs the servers that the tests of remote hosts talk to, and the oldest SQLite that is supported.
set -eu
cd "$(dirname "$0")"
sh old_sqlite.sh
for install in */install.sh; do
    sh "$install"
done
