"""What an exported model says of itself, so that a solution finds its way back."""

from __future__ import annotations

import math
import re
from typing import Literal

import msgspec

from problems.files import FileError

FORMAT = "placebench-model/1"
_LINE = re.compile(r"^\s*(?:\*|\\|#)?\s*(\w+):? +(\S.*?)\s*$")


class Stamp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The instance of a model, how the model was built, and what its objective counts.

    Attributes
    ----------
    instance, digest : str
        Id and digest of the instance.
    formulation : str
    symmetry : bool
    unit_s : float
        Seconds that one unit of the model's objective stands for.
    """

    instance: str
    digest: str
    formulation: str
    symmetry: bool
    unit_s: float

    @property
    def name(self) -> str:
        """Name of the model, one word: solution files that name their model carry it."""
        return f"placebench_{self.digest[:16]}"

    def lines(self) -> list[str]:
        """The stamp as lines of text, for comments."""
        return [
            FORMAT,
            f"instance: {self.instance}",
            f"digest: {self.digest}",
            f"formulation: {self.formulation}",
            f"symmetry: {str(self.symmetry).lower()}",
            f"unit_s: {self.unit_s!r}",
            f"minimise; one unit of the objective is {self.unit_s!r} s",
        ]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model in a folder."""

    file: str
    model: Stamp


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is in a folder of exported models."""

    format: Literal["placebench-models/1"]
    models: list[Entry]


def parse(text: str, where: str) -> Stamp:
    """Read the stamp in the first lines of a model.

    Raises
    ------
    FileError
        If there is none, it is not whole, or its unit is no number of seconds.
    """
    lines = text.splitlines()[:20]
    if not any(FORMAT in line for line in lines):
        raise FileError(f"{where}: no model of `placebench export`: nothing says {FORMAT}")
    told = {match[1]: match[2] for line in lines if (match := _LINE.match(line))}
    try:
        stamp = msgspec.convert(
            {name: told[name] for name in Stamp.__struct_fields__}, Stamp, strict=False
        )
    except KeyError as error:
        raise FileError(f"{where}: the model does not say its {error.args[0]}") from None
    except msgspec.ValidationError as error:
        raise FileError(f"{where}: {error}") from None
    if not 0.0 < stamp.unit_s < math.inf:
        raise FileError(f"{where}: unit_s: {stamp.unit_s!r} is not above 0 and finite")
    return stamp
