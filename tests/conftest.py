"""What holds for every test: how Hypothesis searches, and that threads of numpy stay out of it.

Conventions (CONTRIBUTING.md): a folder per part, a file per behaviour
(`tests/<part>/test_<behaviour>.py`), helpers imported as `tests.support.NAME` or
`tests.<part>.NAME`.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# before numpy is first imported: two cores, many small arrays
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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
