#!/bin/sh
# Installs the servers that the tests of remote hosts talk to.
set -eu
cd "$(dirname "$0")"
for install in */install.sh; do
    sh "$install"
done
