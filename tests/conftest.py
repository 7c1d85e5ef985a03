"""What holds for every test: how Hypothesis searches, and what of the desk stays out of it.

Conventions (CONTRIBUTING.md): a folder per part, a file per behaviour
(`tests/<part>/test_<behaviour>.py`), helpers imported as `tests.support.NAME` or
`tests.<part>.NAME`.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# before numpy is first imported: two cores, many small arrays
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# how wide and colourful somebody's terminal is: the tests and the programs that they start say so
# themselves
for _name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
    os.environ.pop(_name, None)
for _name in ("PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "UNICODE_VERSION", "MPLBACKEND"):
    os.environ.pop(_name, None)
# whoever runs the tests may have a cluster, or be a pod in one
for _name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
    os.environ.pop(_name, None)
# whoever runs tests in the background of a shell ignores Ctrl-C, and so would what tests start
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# the servers of the tests are on loopback, where no proxy leads
for _name in ("http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(_name, None)
    os.environ.pop(_name.upper(), None)

# no deadline anywhere: a busy machine is not a fault of the code under test
_QUIET = [HealthCheck.too_slow]
# CI: the same examples in every run, so that a red run is red again when repeated
settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=True, suppress_health_check=_QUIET
)
# at the desk: new examples each time, failing ones remembered in .hypothesis/
settings.register_profile("desk", deadline=None, print_blob=True, suppress_health_check=_QUIET)
# a night's search: HYPOTHESIS_PROFILE=night
settings.register_profile("night", deadline=None, max_examples=5000, suppress_health_check=_QUIET)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "desk")
)

# the real Kubernetes and Prometheus; its fixtures cost nothing until a test asks for one
pytest_plugins = ["tests.lab.fixtures"]
