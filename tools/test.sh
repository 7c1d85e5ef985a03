#!/bin/sh
# The tests that need nothing but Python; the lab's suite too where its programs are at hand.
set -eu

cd "$(dirname "$0")/.."
python=${FORETIDE_VENV:-.venv}/bin/python
lab='not lab and not browser and not mutation'
echo "test: pytest -m '$lab' $*"
"$python" -m pytest -q -m "$lab" "$@"
if [ "${FORETIDE_LAB:-auto}" = never ]; then
    exit 0
fi
if missing=$("$python" -m tests.lab --missing); then
    echo "test: the lab's suite, on a real Kubernetes and Prometheus"
    echo "test: without the evening that takes 12 minutes (CI plays it): pytest tests/lab/test_the_tide.py"
    "$python" -m pytest -q -m lab --deselect tests/lab/test_the_tide.py
else
    echo "test: the lab's suite is skipped: $missing"
fi
