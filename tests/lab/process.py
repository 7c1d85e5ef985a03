"""A program of the lab as a child process: its log is kept, its end is certain.

The API server answers SIGTERM by lingering for a minute on its port, so the grace is short and
SIGKILL follows; data directories are temporary, so nothing is lost. Where `setpriv` is at hand the
kernel ends the child when the test run itself is killed.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.lab.api import ApiError
from tests.lab.build import find

PATIENCE = 240.0
"""Seconds until what is expected counts as missing: it only ends what hangs, on any machine."""
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST_PORT = 10_000


class LabError(Exception):
    """A program of the lab did not start or ended; the message holds the end of its log."""


def free_ports(count: int) -> list[int]:
    """Distinct loopback ports that nobody listens on now.

    They lie below those that the kernel gives to whoever asks for any, a client included: seconds
    pass until the program for which a port was chosen listens on it.
    """
    found: list[int] = []
    with contextlib.ExitStack() as stack:
        while len(found) < count:
            tried = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):  # somebody listens there
                tried.bind(("127.0.0.1", random.SystemRandom().randrange(*_chosen_by_nobody())))
                found.append(tried.getsockname()[1])
    return found


def _chosen_by_nobody() -> tuple[int, int]:
    """Range of ports below the ephemeral ones; any port at all where there is no room."""
    try:
        lowest = int(_EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError):  # not Linux
        lowest = 49_152
    return (_LOWEST_PORT, lowest) if lowest > _LOWEST_PORT + 1000 else (0, 1)


def wait_until(true: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
    """Ask again and again until `true()` holds; OSError and refusals count as not yet.

    Raises
    ------
    LabError
        It did not hold within `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    last: object = None
    while True:
        try:
            last = true()
        # refused and reset connections; requests' errors are OSErrors too. What is not there yet,
        # or a server that has too much to do, is an ApiError
        except (OSError, ApiError) as error:
            last = error
        else:
            if last:
                return
        if time.monotonic() > deadline:
            raise LabError(f"{what}: not within {timeout:.0f} s; last seen: {last!r}")
        pause.wait(0.1)


class Process:
    """One running program.

    Parameters
    ----------
    program : name as in `build.MODULES`, or a path
    arguments : its command line
    home : folder for its log
    environment : the child's whole environment; None inherits ours
    """

    def __init__(
        self,
        program: str,
        arguments: Sequence[str],
        home: Path,
        *,
        name: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name or Path(program).name
        path = program if "/" in program else str(find(program) or program)
        self.log = home / f"{self.name}.log"
        self._file: IO[bytes] = open(self.log, "ab")  # noqa: SIM115 (closed in stop)
        command = [path, *arguments]
        # the signal follows the thread that started the child, so only the main one may ask for it
        if threading.current_thread() is threading.main_thread() and shutil.which("setpriv"):
            command = ["setpriv", "--pdeathsig", "KILL", *command]
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
        )

    @property
    def pid(self) -> int:
        """Process id (setpriv replaces itself by the program)."""
        return self.child.pid

    def alive(self) -> bool:
        """Whether it still runs."""
        return self.child.poll() is None

    def tail(self, lines: int = 40) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def wait_ready(self, ready: Callable[[], object], timeout: float = PATIENCE) -> None:
        """Wait until `ready()` holds; show the log when it does not, or when the program ended."""

        def ready_or_ended() -> object:
            return not self.alive() or ready()

        try:
            wait_until(ready_or_ended, self.name, timeout)
        except LabError as error:
            raise LabError(f"{error}\n--- {self.log}\n{self.tail()}") from None
        if not self.alive():
            raise LabError(f"{self.name} ended with {self.child.returncode}\n{self.tail()}")

    def kill(self) -> None:
        """SIGKILL: as a crash would."""
        self._end(signal.SIGKILL, 10.0)

    def stop(self, grace: float = 1.0) -> int:
        """SIGTERM, after `grace` seconds SIGKILL; return the exit code."""
        self._end(signal.SIGTERM, grace)
        return self.child.returncode

    def signal(self, number: int) -> None:
        """Send any signal (SIGSTOP, SIGCONT, …)."""
        self.child.send_signal(number)

    def _end(self, number: int, grace: float) -> None:
        if self.alive():
            self.child.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(grace)
            if self.alive():
                self.child.kill()
                self.child.wait()
        self._file.close()
