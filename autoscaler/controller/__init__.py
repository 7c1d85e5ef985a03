"""The wall clock that runs the cycle: due times, workers, fits off the path, leadership, HTTP.

Nothing here decides about a floor: that is `cycle.run_once`, which the simulator runs as well.
"""
