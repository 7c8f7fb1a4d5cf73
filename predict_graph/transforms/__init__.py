"""Transform functions: from the configuration of the real run to that of a sample run."""

from predict_graph.transforms.base import Transform, same_threshold, scaled_threshold
from predict_graph.transforms.registry import (
    TRANSFORMS,
    check_transform,
    default_transform,
    register_transform,
)

__all__ = [
    "TRANSFORMS",
    "Transform",
    "check_transform",
    "default_transform",
    "register_transform",
    "same_threshold",
    "scaled_threshold",
]
