#!/bin/sh
# Everything that reads files and runs nothing. All of it runs even if one part fails.
set -u

cd "$(dirname "$0")/.." || exit 1
failed=
check() {
    name=$1
    shift
    echo "lint: $name"
    "$@" || failed="$failed $name"
}
check "ruff check" ruff check .
check "ruff format" ruff format --check .
check "yamllint" yamllint --strict .
check "shellcheck" shellcheck .ci/run tools/*.sh
check "requirements" python -m tools.requirements
check "hadolint" hadolint deploy/Dockerfile
if [ -n "$failed" ]; then
    echo "lint: failed:$failed"
    exit 1
fi
