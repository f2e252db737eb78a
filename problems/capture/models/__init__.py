"""The networks that can be captured by name.

No weights are downloaded: structures come from configurations. To add a network, register a
builder in the file of its group; to add a size of one that is there, add one line of `variant`.
"""

from problems.capture.models import (  # noqa: F401  (importing a group registers its networks)
    convolutional,
    language,
    own,
    segmentation,
    vision,
    wired,
)
from problems.capture.models.registry import BUILDERS, Builder, Built, capture_graph, find

__all__ = ["BUILDERS", "Builder", "Built", "capture_graph", "find"]
