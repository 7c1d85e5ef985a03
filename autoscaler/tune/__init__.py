"""Chooses forecaster and order level for one service by replaying its own past.

Off the cycle's path. For every candidate (shape x order level) the service's last days
are replayed strictly out of sample: each day is expected from the days before it, corrections and
quantiles come from earlier days only, floors follow the plan's own rules, and `replay` (the one
model of replicas, cold starts and backlog in the house) says what it would have cost and who
would have waited. The lowest score wins:

    score = cost / clairvoyant's cost x (1 + 100 x price x late fraction).

The price of lateness is the policy's (`price.perPercentLate`); what it pays for is also what a
choice is drawn to while few days were replayed. "No tide" is among the candidates, so where no tide
helps it is chosen. What stands is kept within the noise, and what a policy pins is taken. So it is
chosen once a week; every other night the chosen one is fitted again (`tonight`). All of it
is a pure function of (policy, history, now, what stands): a record needs no more to rebuild it.
"""

from autoscaler.tune.advice import Above, advise, against
from autoscaler.tune.judge import ORDER_LEVELS
from autoscaler.tune.learn import known, learn
from autoscaler.tune.lesson import study
from autoscaler.tune.nights import choosing, due, standing_of, tonight
from autoscaler.tune.standing import Standing, refit

__all__ = [
    "ORDER_LEVELS",
    "Above",
    "Standing",
    "advise",
    "against",
    "choosing",
    "due",
    "known",
    "learn",
    "refit",
    "standing_of",
    "study",
    "tonight",
]
