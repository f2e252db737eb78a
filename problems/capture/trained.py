"""The networks whose training graphs the library has, and the sizes of their steps.

Sizes are those of a processor: steps of tens of milliseconds to seconds.
"""

from __future__ import annotations

TRAINED: dict[str, dict[str, int]] = {
    "bert-base": {"batch": 2},
    "clip": {"batch": 2},
    "densenet121": {"batch": 4},
    "efficientnet-b0": {"batch": 4},
    "gnmt": {"batch": 4, "sequence": 8},
    "gpt2": {},
    "inceptionv3": {"batch": 4},
    "llama2-7b": {"sequence": 64},
    "mobilenetv2": {"batch": 4},
    "moe": {},
    "nasnet-mobile": {"batch": 4},
    "randwire-ws": {"batch": 4},
    "resnet50": {"batch": 4},
    "swin-tiny": {"batch": 2},
    "t5-base": {"sequence": 64},
    "unet": {"batch": 2, "size": 128},
    "vit-base": {"batch": 2},
}
