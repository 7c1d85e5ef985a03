"""Forecasts against those of others, out of sample: `python -m benchmarks.forecast`.

Not the score decides here but the forecast itself: pinball loss and coverage of P50, P90 and P99 at
the lead, within the hour and a day ahead, and what each costs in CPU.
"""
