#!/bin/sh
# Everything that reads files and runs nothing. All of it runs even if one part fails.
set -u

cd "$(dirname "$0")/.."
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
# shellcheck disable=SC2046  # the names have no spaces
check "shellcheck" shellcheck .ci/run $(git ls-files '*.sh')
check "requirements" python -m tools.requirements
if [ -f Dockerfile ]; then
    check "hadolint" hadolint Dockerfile
fi
if [ -n "$failed" ]; then
    echo "lint: failed:$failed"
    exit 1
fi
