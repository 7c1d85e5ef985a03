"""One tree of errors, so that the cycle can tell a broken dependency from a bug.

    ForetideError
    ├── InputError                what a person wrote is wrong: exit code 2
    │   ├── PolicyError           a policy file or custom resource
    │   ├── ConfigError           the controller's configuration
    │   └── TraceError            a traffic file
    ├── ObservationError          something could not be read: a doubt, never a zero
    │   ├── HistoryUnavailable    Prometheus
    │   ├── TargetUnavailable     the cluster could not be asked, or the object is not there
    │   └── TargetRefused         the object is there but must not be written (owned, no ceiling, …)
    └── ActuationError            a floor could not be written
        ├── WriteConflict         what the decision relied on has changed: decide again
        ├── WriteRefused          the API server said no (RBAC, admission, validation)
        └── WriteUnavailable      no answer: the write may or may not have happened

`cycle.run_once` catches ObservationError and ActuationError and nothing else: any other
exception is a bug and ends the job loudly.
"""

from __future__ import annotations


class ForetideError(Exception):
    """Root of every error that Foretide raises on purpose."""


class InputError(ForetideError):
    """What a person wrote is wrong; the message says where, what was found, what is allowed."""


class PolicyError(InputError):
    """A policy is not usable."""


class ConfigError(InputError):
    """The controller's configuration is not usable."""


class TraceError(InputError):
    """A traffic file is not usable."""


class ObservationError(ForetideError):
    """Something could not be read. Becomes a doubt; a missing number is never 0.

    Parameters
    ----------
    message : str
        One sentence with numbers.
    code : str
        Short PascalCase reason, stable across releases (metric label, doubt code).
    """

    def __init__(self, message: str, *, code: str = "Unavailable") -> None:
        super().__init__(message)
        self.code = code


class HistoryUnavailable(ObservationError):
    """The demand history could not be read."""


class TargetUnavailable(ObservationError):
    """The target could not be read."""


class TargetRefused(ObservationError):
    """The target exists, but a floor must not be written to it."""


class ActuationError(ForetideError):
    """A floor could not be written."""


class WriteConflict(ActuationError):
    """The object is not as it was observed: decide again, never retry the old answer."""


class WriteRefused(ActuationError):
    """The API server refused the write for good (RBAC, admission, validation)."""


class WriteUnavailable(ActuationError):
    """The API server did not answer in time: whether the write happened is unknown."""
