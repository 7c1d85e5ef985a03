"""`python -m tests.lab`: builds what is missing, keeps a cluster and a Prometheus until Ctrl-C.

`--missing` only says what is not there (exit code 1), `--build [PROGRAM …]` only builds.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.lab import build


def main() -> int:
    """Parse the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    parser.add_argument(
        "--missing", action="store_true", help="name the programs that are not there"
    )
    parser.add_argument(
        "--build", nargs="*", metavar="MODULE", help="build only; all when none is named"
    )
    options = parser.parse_args()
    if options.missing:
        absent = build.missing()
        if absent:
            print(f"not built: {', '.join(absent)}; `make lab` builds them once (about 12 minutes)")
        return 1 if absent else 0
    if options.build is not None:
        for module in build.MODULES:
            if not options.build or module.name in options.build:
                build.build(module)
        return 0
    build.build_missing()
    return _up()


def _up() -> int:
    """Start everything, print how to use it, wait."""
    from tests.lab.controllers import COLD_START, Controllers  # noqa: PLC0415 (needs requests, yaml)
    from tests.lab.plane import ControlPlane  # noqa: PLC0415 (so does this)
    from tests.lab.prometheus import Prometheus  # noqa: PLC0415 (and this)

    asked_to_end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked_to_end.set())
    with tempfile.TemporaryDirectory(prefix="foretide-lab-") as folder:
        began = time.monotonic()
        plane = ControlPlane(Path(folder))
        controllers = Controllers(plane)
        prometheus = Prometheus(Path(folder) / "prometheus", interval=15.0)
        print(
            f"lab: ready in {time.monotonic() - began:.1f} s\n"
            f"  Kubernetes  {plane.url}\n"
            f"  kubeconfig  export KUBECONFIG={plane.kubeconfig()}\n"
            f"  Prometheus  {prometheus.url}\n"
            f"  logs        {folder}\n"
            f"  cold start of a pod: annotation {COLD_START}: 40s in its template\n"
            "Ctrl-C ends it and removes everything.",
            flush=True,
        )
        asked_to_end.wait()
        print("lab: ending", flush=True)
        for each in (prometheus, controllers, plane):
            each.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
