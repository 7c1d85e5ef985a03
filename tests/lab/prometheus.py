"""A real Prometheus with a past (backfilled blocks) and a present (an exporter that it scrapes)."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

from tests.lab.api import Json
from tests.lab.build import find
from tests.lab.process import Process, free_ports

Labels = Mapping[str, str]
# backfilled series and scraped ones join only when both carry the same job and instance
JOB = "lab"


def _series(name: str, labels: Labels) -> str:
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return f"{name}{{{inside}}}" if inside else name


def openmetrics(
    kind: str, name: str, series: Iterable[tuple[Labels, Sequence[float], Sequence[float]]]
) -> str:
    """OpenMetrics text of one metric.

    Parameters
    ----------
    kind : counter or gauge; a counter's name must end in `_total`
    series : labels, times (POSIX seconds) and values of each series
    """
    family = name.removesuffix("_total") if kind == "counter" else name
    lines = [f"# TYPE {family} {kind}"]
    for labels, times, values in series:
        head = _series(name, labels)
        lines += [
            f"{head} {float(value)!r} {at:.3f}" for at, value in zip(times, values, strict=True)
        ]
    return "\n".join([*lines, "# EOF", ""])


class Exporter:
    """An HTTP server with `/metrics` whose numbers a test decides at every scrape.

    Parameters
    ----------
    collect : called at each scrape; returns the exposition text
    """

    def __init__(self, collect: Callable[[], str]) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = collect().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Scrapes are not news."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Prometheus:
    """One running Prometheus; `kill` and `start` again to see a restart.

    Parameters
    ----------
    home : folder for data, configuration and log
    past : OpenMetrics texts to be backfilled (`openmetrics`), none newer than now
    scrape : job name → address of an exporter
    interval : seconds between scrapes
    """

    def __init__(
        self,
        home: Path,
        *,
        past: Sequence[str] = (),
        scrape: Mapping[str, str] | None = None,
        interval: float = 5.0,
        instance: str | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        (self.port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = tuple(arguments)
        for number, text in enumerate(past):
            self._backfill(number, text)
        self._configure(scrape or {}, interval, instance)
        self.process: Process | None = None
        self.start()

    def start(self) -> None:
        """Start (again) on the same port and data."""
        self.process = Process(
            "prometheus",
            [
                f"--config.file={self.home / 'prometheus.yml'}",
                f"--storage.tsdb.path={self.home / 'data'}",
                "--storage.tsdb.retention.time=90d",  # else older blocks are deleted at the start
                f"--web.listen-address=127.0.0.1:{self.port}",
                *self._arguments,
            ],
            self.home,
        )
        try:
            self.process.wait_ready(self._ready)
        except BaseException:
            self.stop()
            raise

    def kill(self) -> None:
        """SIGKILL, as a crash."""
        if self.process is not None:
            self.process.kill()

    def stop(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.stop(grace=2.0)

    def query(self, text: str) -> list[Json]:
        """The result of an instant query: the test's own eye on this server."""
        query = urllib.parse.urlencode({"query": text})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{query}", timeout=60) as answer:
            result: list[Json] = json.load(answer)["data"]["result"]
        return result

    def logs(self) -> str:
        """The end of its log, for a failed test."""
        return self.process.tail() if self.process is not None else ""

    def _backfill(self, number: int, text: str) -> None:
        file = self.home / f"past-{number}.om"
        file.write_text(text)
        # blocks of the default two hours make promtool parse the file once for each
        command = [str(find("promtool")), "tsdb", "create-blocks-from"]
        command += ["--max-block-duration=720h", "openmetrics", "-q", str(file)]
        subprocess.run(
            [*command, str(self.home / "data")], check=True, stdin=subprocess.DEVNULL, timeout=600
        )

    def _configure(self, scrape: Mapping[str, str], interval: float, instance: str | None) -> None:
        jobs = []
        for job, address in scrape.items():
            labels = {"instance": instance} if instance else {}
            static = {"targets": [address], **({"labels": labels} if labels else {})}
            jobs.append({"job_name": job, "static_configs": [static]})
        every = f"{int(interval * 1000)}ms"
        document = {
            "global": {"scrape_interval": every, "scrape_timeout": every},
            "scrape_configs": jobs,
        }
        (self.home / "prometheus.yml").write_text(yaml.safe_dump(document))

    def _ready(self) -> bool:
        with urllib.request.urlopen(f"{self.url}/-/ready", timeout=20) as answer:
            return bool(answer.status == 200)
