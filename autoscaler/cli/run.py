"""`foretide run`: the controller, until it is told to stop."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import queue
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from autoscaler.cli.options import ExitCode, common_options, examples, policy_option
from autoscaler.errors import ConfigError

if TYPE_CHECKING:
    from autoscaler.cli.compose import Root
    from autoscaler.config import Config
    from autoscaler.controller.controller import Controller
    from autoscaler.controller.web import Web

logger = logging.getLogger(__name__)


@click.command(
    "run",
    epilog=examples(
        ("policies from a folder; only watch", "foretide run -f policies/ --observe-only"),
        ("as in a cluster: custom resources, one lease", "foretide run --config config.yaml"),
        (
            "on a desk, against a forwarded Prometheus",
            "foretide run -f policies/ --prometheus http://localhost:9090 --context staging",
        ),
    ),
)
@policy_option(multiple=True, required=False)
@click.option("--observe-only", is_flag=True, help="Write to no target, whatever a policy says.")
@click.option("--port", type=int, metavar="PORT", help="Port of /metrics; 0 takes a free one.")
@click.option(
    "--records",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where decision records are written.",
)
@common_options
def command(  # noqa: PLR0913 one parameter for each option, as click hands them over
    *,
    policies: tuple[Path, ...],
    observe_only: bool,
    port: int | None,
    records: Path | None,
    config: Path | None,
    prometheus: str | None,
    context: str | None,
    as_json: bool,
) -> NoReturn:
    """Run the controller.

    It lists the policies (from -f, else from the cluster), decides a floor for each every period
    and writes it where the policy's mode says so. SIGTERM ends it within five seconds: the write in
    hand is finished, floors stay as they are, the lease is given back.

    Of several controllers one writes; the others observe and are ready to take over.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # before NumPy: many small arrays on few cores
    from autoscaler.adapters.telemetry import logs
    from autoscaler.cli import compose

    settings = compose.configuration(
        config,
        prometheus=prometheus,
        context=context,
        policies=policies,
        **{
            "observeOnly": True if observe_only else None,
            "web.port": port,
            "telemetry.records.directory": None if records is None else str(records),
        },
    )
    said = settings.telemetry.logs
    logs.configure("json" if as_json else said.format, said.level)
    leave(serve(settings))


def serve(settings: Config) -> int:
    """Run until a signal says otherwise, and return the exit code."""
    from autoscaler.cli import compose
    from autoscaler.controller.controller import Controller

    told = hear()
    root = compose.Root(config=settings)
    controller = Controller(root.wiring())
    web = _web(settings, root, controller)
    web.start()
    controller.start()
    host, listening = web.address
    logger.info(
        "running: http://%s:%d/metrics%s",
        host,
        listening,
        "; observing only" if settings.observe_only else "",
    )
    number = heard(told)
    logger.info("stopping on %s: floors stay as they are", signal.Signals(number).name)
    whole = controller.stop()
    web.stop()
    logger.info("stopped" if whole else "stopped; a cycle was still waiting for an answer")
    return ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.DONE


def hear() -> queue.SimpleQueue[int]:
    """Take SIGTERM and SIGINT from now on as words to the main thread; the second ends us at once.

    A `SimpleQueue`, since a handler runs within the main thread: the lock of an Event or a Queue
    may be held by the very `wait` that it interrupts, and then `set` waits for ever.
    """
    told: queue.SimpleQueue[int] = queue.SimpleQueue()
    before: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        if before:  # whoever says it twice does not want to wait
            os._exit(ExitCode.INTERRUPTED)
        before.append(number)
        told.put(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, note)
    return told


def heard(told: queue.SimpleQueue[int]) -> int:
    """Wait for the first of these signals and return its number."""
    while True:
        # now and then awake: a signal that another thread was given does not wake this one
        with contextlib.suppress(queue.Empty):
            return told.get(timeout=1.0)


def _web(settings: Config, root: Root, controller: Controller) -> Web:
    """Our HTTP server, or a clear word about why it cannot listen."""
    from autoscaler.controller.web import Web

    where = settings.web
    try:
        return Web(
            where.address,
            where.port,
            root.metrics.registry,
            healthy=controller.healthy,
            ready=controller.ready,
        )
    except OSError as error:
        raise ConfigError(
            f"web.port: cannot listen on {where.address}:{where.port} ({error.strerror}); "
            "free it, or choose another with --port (0 takes a free one)"
        ) from error


def leave(code: int) -> NoReturn:
    """End the process now: everything of ours has ended, or has had its time.

    The interpreter would wait for the threads of libraries (a timer that lists policies from a
    silent API server) and for a fit that was begun in this very moment; the fit's process ends by
    itself when it misses its parent.
    """
    for child in multiprocessing.active_children():
        child.terminate()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
