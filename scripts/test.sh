#!/usr/bin/env bash
# All tests.  Arguments go to pytest: bash scripts/test.sh -k cli
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
environment dev
compiler
exec python -m pytest -n "${FORTRANS_JOBS:-2}" "$@"
