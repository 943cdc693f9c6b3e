#!/bin/sh
# Installs the exact packages of package-lock.json beside this script. Their own install scripts are not needed, so none is run.
set -eu
cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund
