"""Somebody who follows a document step by step, in a folder of their own, on a small world.

The world is an LLM service in the morning of its day: three weeks of metrics as a vLLM engine has
them, and its HPA. The morning is anchored to the clock, so that a document reads the same at any
hour. Blocks of YAML that begin with `# NAME.yaml` are written to that file; each `$ foretide …` of
a console block is run, and what it prints is compared.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import yaml

from autoscaler.sandbox.engine import Engine
from autoscaler.sandbox.kubernetes import KubernetesServer
from autoscaler.sandbox.prometheus import PrometheusServer
from autoscaler.world.tides import Tide, make_tide
from tests.support.processes import PATIENCE, ended
from tests.support.shared import ROOT

DAYS = 21
MORNING = 8 * 60 + 45  # minutes of the tide's day at which "now" is
GAP = "…"
_CALENDAR = re.compile(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b"
)
_NUMBER = re.compile(r"[+-]?\d[\d.,:]*(?:T[\d:.]+Z?|[smhd]\b|%)*")


def plain(line: str) -> str:
    """A line without what differs from run to run: numbers, dates, blanks, units of time."""
    line = _CALENDAR.sub("DAY", line)
    line = re.sub(r"\d{4}-\d\d-\d\d(T[\d:.]+Z?)?", "N", line)
    return " ".join(_NUMBER.sub("N", line).split())


def words(text: str) -> list[str]:
    """Lines that say something, made plain."""
    return [each for each in map(plain, text.splitlines()) if each]


def missing(shown: str, printed: str) -> str:
    """First line of `shown` that `printed` does not have in this order; "" when it is all there.

    Shown text must follow directly unless the document says `…`. How it is wrapped does
    not count: both are compared as one stream of words between gaps.
    """
    stream = " ".join(words(printed))
    at, free = 0, False
    for part in shown.split(GAP):
        wanted = " ".join(words(part))
        if wanted:
            found = stream.find(wanted, at)
            if found < 0 or (not free and found != at):
                return wanted
            at = found + len(wanted)
        free = True
    return ""


class Newcomer:
    """Follows one document.

    Parameters
    ----------
    folder : where files go and commands run
    """

    def __init__(self, folder: Path, prometheus: PrometheusServer, cluster: KubernetesServer):
        self.folder = folder
        self._cluster = cluster
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(cluster.kubeconfig()))
        self._environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "KUBECONFIG": str(kubeconfig),
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "80",
            "LANG": "C.UTF-8",
            "FORETIDE_PROMETHEUS_URL": prometheus.url,
            "FORETIDE_WEB_PORT": "0",  # whatever is free: others listen here too
            "FORETIDE_TELEMETRY_LOGS_FORMAT": "text",
            "OMP_NUM_THREADS": "1",
        }

    def command(self, line: str) -> list[str]:
        """A command line as a child process is given it."""
        program, *arguments = shlex.split(line, comments=True)
        assert program == "foretide"
        return [sys.executable, "-m", "autoscaler.cli.main", *arguments]

    def run(self, line: str) -> str:
        """Run a command to its end, and return what it printed."""
        done = subprocess.run(
            self.command(line),
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode not in (1,), done.stdout + done.stderr
        return done.stdout + done.stderr

    def watch(self, line: str, shown: str) -> str:
        """Run a controller until it has said what is shown, end it, and return what it said."""
        log = self.folder / "controller.log"
        with log.open("w") as stream:
            started = subprocess.Popen(
                self.command(line),
                cwd=self.folder,
                env=self._environment,
                stdout=stream,
                stderr=stream,
            )
        end = time.monotonic() + PATIENCE
        with ended(started) as running:
            while missing(shown, log.read_text()) and time.monotonic() < end:
                assert running.poll() is None, log.read_text()
                time.sleep(0.2)  # between two looks; nothing depends on how long
            running.terminate()
            running.wait(timeout=PATIENCE)
        return log.read_text()


@contextmanager
def newcomer(folder: Path) -> Iterator[Newcomer]:
    """The small world, and somebody in it."""
    definition = yaml.safe_load((ROOT / "deploy" / "crd.yaml").read_text())
    with PrometheusServer() as prometheus, KubernetesServer(definitions=(definition,)) as cluster:
        now = float(int(time.time() // 60) * 60)
        demand = make_tide(Tide(), DAYS + 2, seed=3)
        span = DAYS * 1440 + 60  # an hour to come, for the minutes that the document takes
        engine = Engine(prometheus, "llm", "qwen-32b")
        engine.remember(now - DAYS * 86_400, np.asarray(demand[MORNING : MORNING + span]), 60.0)
        cluster.put(hpa(), manager="kubectl")
        yield Newcomer(folder, prometheus, cluster)


def hpa() -> dict[str, object]:
    """The service's autoscaler."""
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "qwen-32b", "namespace": "llm"},
        "spec": {
            "minReplicas": 4,
            "maxReplicas": 24,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "qwen-32b"},
        },
    }
