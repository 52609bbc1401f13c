"""Targets as classifiers need them; they live below this layer because not every classifier needs torch."""

from __future__ import annotations

from twinwl.graphs.targets import (
    check_groups,
    check_weights,
    codes_of,
    encode_targets,
    weights_of_classes,
)

__all__ = ["check_groups", "check_weights", "codes_of", "encode_targets", "weights_of_classes"]
