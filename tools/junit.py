"""Adds up JUnit reports; says when a suite ran too few tests or skipped any.

A suite that is skipped is green to pytest. In CI that would hide that nothing was tested.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ET
from pathlib import Path


def count(paths: list[Path]) -> dict[str, int]:
    """Add up tests, skipped and failed of all reports."""
    total = {"tests": 0, "skipped": 0, "failed": 0}
    for path in paths:
        # our own pytest wrote these files a moment ago
        for suite in ET.parse(path).getroot().iter("testsuite"):
            total["tests"] += int(suite.get("tests", 0))
            total["skipped"] += int(suite.get("skipped", 0))
            total["failed"] += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return total


def main() -> int:
    """Print the sum as pytest would; return 1 when a demand is not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--at-least", type=int, default=0, help="tests that must have run")
    parser.add_argument("--skipped", type=int, help="how many may be skipped at most")
    parser.add_argument("--failed", type=int, help="how many may have failed at most")
    options = parser.parse_args()
    found = count(options.reports)
    passed = found["tests"] - found["skipped"] - found["failed"]
    print(f"{passed} passed, {found['failed']} failed, {found['skipped']} skipped")
    if passed < options.at_least:
        print(f"too few: {passed} of at least {options.at_least} tests passed")
        return 1
    if options.skipped is not None and found["skipped"] > options.skipped:
        print(f"{found['skipped']} skipped, {options.skipped} allowed")
        return 1
    if options.failed is not None and found["failed"] > options.failed:
        print(f"{found['failed']} failed, {options.failed} allowed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
