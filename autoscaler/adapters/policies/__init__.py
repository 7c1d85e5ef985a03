"""Policies from text: files, mounted ConfigMaps, custom resources, with every mistake in words."""

from autoscaler.adapters.policies.files import NO_POLICY, FilePolicySource, load, read_paths
from autoscaler.adapters.policies.text import Reading, one_per_target, parse_object, read_text

__all__ = [
    "NO_POLICY",
    "FilePolicySource",
    "Reading",
    "load",
    "one_per_target",
    "parse_object",
    "read_paths",
    "read_text",
]
