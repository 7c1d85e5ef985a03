"""What Foretide says about itself: decision records, Prometheus metrics, logs, Events, status.

Each is a small `Recorder`; `composite.Together` calls them in order and lets none disturb another.
"""
