#!/bin/sh
# Resolves pyproject.toml once for every supported Python and writes requirements/*.txt from it:
# versions with hashes, no index URL (uv's own lock file names hosts, so it is not kept).
#
# Versions younger than a week are left out: time for somebody else to notice a bad release.
set -eu

cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp pyproject.toml "$work/"
: >"$work/README.md"
: >"$work/LICENSE"
newest=$(${PYTHON:-.venv/bin/python} -c 'import datetime as d; print((d.datetime.now(d.UTC) - d.timedelta(days=7)).strftime("%Y-%m-%dT00:00:00Z"))')
echo "lock: resolving pyproject.toml, nothing published after $newest"
"$uv" lock --quiet --project "$work" --exclude-newer "$newest"

export_set() { # NAME, then what selects the groups
    name=$1
    shift
    {
        echo "# Written by \`make lock\` from pyproject.toml; not edited by hand."
        "$uv" export --quiet --project "$work" --frozen --no-emit-project --no-header --no-annotate \
            --no-default-groups --format requirements-txt "$@"
    } >"requirements/$name.txt"
    echo "lock: requirements/$name.txt $(grep -c '^[a-z]' "requirements/$name.txt") pins"
}
export_set run                # the dependencies alone: what the container runs
export_set build --only-group build
export_set test --group test
export_set lint --group lint
export_set browser --group browser
export_set lock --only-group lock
export_set go --only-group go
