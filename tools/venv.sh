#!/bin/sh
# Makes or refreshes the checkout's own virtual environment for one set of requirements.
#
#   tools/venv.sh run|test|lint|browser|lock
#
# Needs Python >= 3.11 and a package index that pip knows of; nothing else. A second call for the
# same set ends at once: a stamp holds the hash of the requirements and of the interpreter.
set -eu

unset CDPATH PYTHONHOME PYTHONPATH PIP_TARGET PIP_PREFIX PIP_ROOT PIP_CONSTRAINT
cd "$(dirname "$0")/.."
set_name=${1:?usage: tools/venv.sh run|test|lint|browser|lock}
venv=${FORETIDE_VENV:-.venv}
requirements=requirements/$set_name.txt
# the build back end, pinned like the rest, makes the editable install without an isolated environment
build=requirements/build.txt

say() { printf '%s\n' "venv: $*"; }

find_python() {
    for candidate in ${FORETIDE_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        path=$(command -v "$candidate" 2>/dev/null) || continue
        # ensurepip and venv are packages of their own on Debian: without them no environment
        if "$path" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$path"
            return 0
        fi
    done
    return 1
}

if [ ! -f "$requirements" ]; then
    say "no such set of requirements: $requirements" >&2
    exit 2
fi

# usable VENV: whether it has a Python and a pip that work, and its programs name this very place (an
# environment that was copied or moved, or whose Python is gone or too old, is made anew)
usable() {
    place=$(cd "$1" 2>/dev/null && pwd) && real=$(cd "$1" && pwd -P) || return 1
    [ -x "$1/bin/python" ] &&
        head -n 2 "$1/bin/pip" 2>/dev/null | grep -qF -e "$place/bin/" -e "$real/bin/" &&
        "$1/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if ! usable "$venv"; then
    if ! python=$(find_python); then
        say "no Python >= 3.11 with the venv and ensurepip modules among FORETIDE_PYTHON, python3, python3.14 … python3.11." >&2
        say "Install one (Debian, Ubuntu: apt-get install python3 python3-venv) or set FORETIDE_PYTHON to its path." >&2
        exit 2
    fi
    say "making $venv with $("$python" -c 'import sys; print("Python", sys.version.split()[0])')"
    rm -rf "$venv"
    "$python" -m venv "$venv"
fi

# hash of the interpreter and of the given files; of pyproject.toml only what an install depends on
hash_of() {
    "$venv/bin/python" - "$@" <<'PY'
import hashlib, os, sys, tomllib

digest = hashlib.sha256(sys.version.encode())
for name in sys.argv[1:]:
    content = open(name, "rb").read()
    if name == "pyproject.toml":
        project = tomllib.loads(content.decode())
        content = repr((project["build-system"], project["project"], os.getcwd())).encode()
    digest.update(content)
print(digest.hexdigest())
PY
}

# done NAME KEY: whether this was installed before, in just this state
done_before() {
    [ "$(cat "$venv/stamp-$1" 2>/dev/null || true)" = "$2" ]
}

# whatever else pip is configured to, it installs here; an index that fails once is asked again
pip() {
    PIP_USER=0 PIP_RETRIES=10 "$venv/bin/python" -m pip "$@" --quiet --disable-pip-version-check --no-input
}

pinned=$(hash_of "$requirements" "$build")
itself=$(hash_of pyproject.toml)
if done_before "$set_name" "$pinned" && done_before foretide "$itself"; then
    exit 0
fi
if ! done_before "$set_name" "$pinned"; then
    say "installing $requirements (pinned, with hashes)"
    pip install --require-hashes -r "$requirements" -r "$build"
    printf '%s\n' "$pinned" >"$venv/stamp-$set_name"
fi
if ! done_before foretide "$itself"; then
    say "installing foretide itself, editable"
    pip install --no-deps --no-index --no-build-isolation --editable .
    printf '%s\n' "$itself" >"$venv/stamp-foretide"
fi
say "ready"
