"""A package that brings methods, as a wheel that pip installs without a network; no test module."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

MODULE = """
import numpy as np
from problems.answer import Answer
from solvers.method import method

@method(problems=["throughput", "latency"], source="tiny")
def first_device(instance, context, *, device: int = 0):
    \"\"\"Everything on one device.\"\"\"
    return Answer.of(np.full(instance.n, device))

@method(problems=["latency"], name="another-name")
def misnamed(instance, context):
    return None

@method(problems=["latency"])
def heft(instance, context):  # a name of the suite's
    return None

def plain(instance, context):
    return None
"""
POINTS = {
    "first-device": "tiny_placers.methods:first_device",
    "broken": "tiny_placers.broken:anything",
    "gone": "tiny_placers.methods:gone",
    "misnamed": "tiny_placers.methods:misnamed",
    "plain": "tiny_placers.methods:plain",
    "heft": "tiny_placers.methods:first_device",
}


def wheel(folder: Path, version: str = "0.1", points: Mapping[str, str] = POINTS) -> Path:
    """Write the wheel ``tiny-placers``; returns its path."""
    info = f"tiny_placers-{version}.dist-info"
    content = {
        "tiny_placers/__init__.py": "",
        "tiny_placers/methods.py": MODULE,
        "tiny_placers/broken.py": "raise RuntimeError('no such \\x1b[2Jluck')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny-placers\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": "[placebench.methods]\n"
        + "".join(f"{name} = {value}\n" for name, value in points.items()),
    }
    content[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*content, f"{info}/RECORD"])
    path = folder / f"tiny_placers-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in content.items():
            file.writestr(name, text)
    return path


def install(built: Path, target: Path) -> None:
    """Let pip install the wheel into a folder of its own."""
    command = [
        sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile",
        "--disable-pip-version-check", "--quiet", "--target", target, built,
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, text=True)
