"""Where the cluster is and who we are: kubeconfig, in-cluster service account, or said outright."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client.configuration import Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import (
    SERVICE_CERT_FILENAME,
    SERVICE_HOST_ENV_NAME,
    SERVICE_TOKEN_FILENAME,
    InClusterConfigLoader,
)
from kubernetes.config.kube_config import load_kube_config, load_kube_config_from_dict

from autoscaler.adapters.kubernetes.client import Cluster, Timeouts
from autoscaler.errors import ConfigError

_POOL = 32  # connections kept: one per thread of the controller, with room


def connect(
    *,
    kubeconfig: str | Path | Mapping[str, Any] | None = None,
    context: str | None = None,
    timeouts: Timeouts | None = None,
) -> Cluster:
    """Cluster of a kubeconfig (path, or the document itself) or of the pod that we run in.

    Without arguments: `KUBECONFIG` or `~/.kube/config` where there is one, else the service account
    of the pod. A kubeconfig is never written to.

    Raises
    ------
    ConfigError
        There is none, or it cannot be used.
    """
    configuration = Configuration()
    configuration.connection_pool_maxsize = _POOL
    try:
        if isinstance(kubeconfig, Mapping):
            load_kube_config_from_dict(dict(kubeconfig), context, configuration, False)
            return Cluster(configuration, timeouts=timeouts)
        path = _default_path() if kubeconfig is None else str(kubeconfig)
        if kubeconfig is None and context is None and not _exists(path):
            if SERVICE_HOST_ENV_NAME in os.environ:
                return in_cluster(timeouts=timeouts)
            raise ConfigError(
                f"no cluster: there is no kubeconfig at {path} and this is not a pod; "
                "set KUBECONFIG, or name one with --context and a kubeconfig that has it"
            )
        load_kube_config(path, context, configuration, False)  # never written to
        _check_address(configuration.host)
    except (ConfigException, yaml.YAMLError, OSError, LookupError, ValueError) as error:
        raise _unusable(kubeconfig, context, str(error)) from error
    except (TypeError, AttributeError) as error:  # what the loader makes of a text or a list
        shape = f"it has not the shape of one ({error})"
        raise _unusable(kubeconfig, context, shape) from error
    return Cluster(configuration, timeouts=timeouts)


def _check_address(host: str) -> None:
    """Refuse an address that would only fail later, and in other words.

    Raises
    ------
    ValueError
    """
    if not str(host).startswith(("https://", "http://")):
        raise ValueError(f"server: found {host!r}; allowed: an address such as https://host:6443")


def _unusable(
    kubeconfig: str | Path | Mapping[str, Any] | None, context: str | None, why: str
) -> ConfigError:
    """Build the error about a kubeconfig."""
    where = "the given kubeconfig" if isinstance(kubeconfig, Mapping) else "the kubeconfig"
    name = f", context {context!r}" if context else ""
    return ConfigError(f"{where}{name} cannot be used: {why}")


def in_cluster(
    *,
    token_file: str | Path = SERVICE_TOKEN_FILENAME,
    ca_file: str | Path = SERVICE_CERT_FILENAME,
    environ: Mapping[str, str] | None = None,
    timeouts: Timeouts | None = None,
) -> Cluster:
    """Cluster of the pod that we run in; its token is read again for each call, since it rotates.

    Raises
    ------
    ConfigError
        This is not a pod, or it has no service account token.
    """
    configuration = Configuration()
    configuration.connection_pool_maxsize = _POOL
    loader = InClusterConfigLoader(
        token_filename=str(token_file),
        cert_filename=str(ca_file),
        try_refresh_token=False,
        environ=os.environ if environ is None else environ,
    )
    try:
        loader.load_and_set(configuration)
    except ConfigException as error:
        raise ConfigError(f"no service account of a pod here: {error}") from error
    configuration.refresh_api_key_hook = _reads_token(Path(token_file))
    return Cluster(configuration, timeouts=timeouts)


def _reads_token(path: Path) -> Any:
    """Build the hook that puts the file's present token into the configuration.

    The kubelet replaces the file as a whole; while it cannot be read the last token stays.
    """

    def refresh(configuration: Configuration) -> None:
        try:
            token = path.read_text().strip()
        except OSError:
            return
        if token:
            configuration.api_key["BearerToken"] = f"Bearer {token}"

    return refresh


def _default_path() -> str:
    """Find what kubectl would read; KUBECONFIG may name several files."""
    return os.environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())


def _exists(paths: str) -> bool:
    """Whether any of the named kubeconfigs is there."""
    return any(Path(path).is_file() for path in paths.split(os.pathsep) if path)
