"""Turns what a campaign brought home into device, link and platform files.

Runs where the suite is installed, not on the measured machine. What a campaign did not reach is
left out, and the files say so.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from problems import files
from problems.capture.campaign.folder import FORMAT, STATE
from problems.capture.campaign.platforms import compose
from problems.capture.cuda import parse
from problems.capture.device import METHOD
from problems.capture.links import summary
from problems.files import FileError, plainly
from problems.platform import DeviceFile, LinkFile, LinkPoint, Platform, Timing, validate

MAKERS = re.compile(r"^((nvidia|tesla|geforce|quadro)[- ]+)+", re.I)
STATED = ("survey", "machine", "date", "seed", "signatures")
"""What ``campaign.json`` has to say for its files to be adopted."""


@dataclass(frozen=True)
class Adopted:
    """Files of a campaign, by name."""

    devices: dict[str, DeviceFile]
    links: dict[str, LinkFile]
    platforms: dict[str, Platform]

    def items(self) -> Iterator[tuple[str, msgspec.Struct]]:
        """Every file with its path below the library's root."""
        for folder, ending, each in (
            ("devices", ".json.gz", self.devices),
            ("links", ".json", self.links),
            ("platforms", ".json", self.platforms),
        ):
            for name, file in sorted(each.items()):
                yield f"{folder}/{name}{ending}", file


def adopt(folder: str | Path, name: str | None = None) -> Adopted:
    """Read a campaign's folder, whole or partial.

    Parameters
    ----------
    folder : path
        What ``placebench capture campaign`` filled.
    name : str, optional
        First part of the names of all files; made of card and processor where not given.

    Raises
    ------
    FileError
        If it is no campaign, a file is broken, or nothing was measured.
    """
    folder = Path(folder)
    state = _read(folder / STATE, STATED)
    try:
        return _adopt(folder, state, name)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise FileError(f"{folder / STATE}: is broken: {type(error).__name__}: {error}") from None


def _adopt(folder: Path, state: dict[str, Any], name: str | None) -> Adopted:
    steps: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json.gz")):
        steps |= _read(path, ("steps",))["steps"]
    survey, machine = state["survey"], state["machine"]
    common = {
        **machine,
        "torch": survey.get("torch"),
        "date": state["date"],
        "seed": state["seed"],
    }
    cards = survey.get("cards", [])
    cpu = f"{name}-cpu" if name else slug(machine["cpu"].partition(" (")[0])
    card_names = names(cards, name)
    devices: dict[str, DeviceFile] = {}
    links: dict[str, LinkFile] = {}
    found: dict[str, str] = {}  # step -> file
    for step, data in sorted(steps.items()):
        where = f"{folder}: step {step}"
        try:
            if "times" in data:
                provenance = common | of_device(step, data, survey)
                if "threads" in data:
                    file = f"{cpu}-{data['threads']}t"
                else:
                    spec = parse(step)
                    share = f"-{spec.multiprocessors}sm" if spec.multiprocessors else ""
                    file = f"{card_names[spec.card]}{share}-{spec.precision}"
                if data["times"]:
                    devices[file] = _device(file, data, provenance, state["signatures"])
                    found[step] = file
            elif data.get("forward"):
                owner = card_names[data["card"]] if "card" in data else cpu
                file = f"{owner}-{step.partition(':')[0]}"
                if data["link"] == "peer":
                    file += str(data["other"])
                links[file] = _link(file, data, common, survey)
                found[step] = file
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise FileError(f"{where}: {type(error).__name__}: {error}") from None
    if not found:
        raise FileError(f"{folder}: nothing was measured in this campaign")
    platforms = {
        platform.name: platform
        for platform in compose(found, cards, machine, cpu, card_names, state["date"])
    }
    for each in platforms.values():
        validate(each, f"platform {each.name}")
    return Adopted(devices, links, platforms)


def write(adopted: Adopted, root: str | Path, replace: bool = False) -> list[Path]:
    """Write the files below `root`, each read back; the paths.

    Parameters
    ----------
    replace : bool
        Replace measured files and platforms of the same name that say something else.

    Raises
    ------
    FileError
        Before anything is written: if another file has one of the names already, and it is not to
        be replaced, or was not measured.
    """
    root = Path(root)
    for path, file in adopted.items():
        there = root / path
        if there.exists():
            other = files.read(there, type(file))
            if isinstance(other, DeviceFile | LinkFile) and other.kind != "measured":
                raise FileError(f"{there}: is {other.kind}, not measured; give another --name")
            if other != file and not replace:
                raise FileError(
                    f"{there}: is there already and says something else; give another --name, or"
                    " --replace"
                )
    written = []
    for path, file in adopted.items():
        files.write(root / path, file)
        if files.read(root / path, type(file)) != file:
            raise FileError(f"{root / path}: does not read back as it was written")
        written.append(root / path)
    return written


def names(cards: Sequence[Mapping[str, Any]], name: str | None = None) -> list[str]:
    """First parts of the names of cards; two of them share one only if they are alike."""
    if name:
        return [f"{name}-gpu{k or ''}" for k in range(len(cards))]
    owners: dict[str, str] = {}
    found = []
    for k, card in enumerate(cards):
        short = slug(card["name"])
        if owners.setdefault(short, card["name"]) != card["name"]:
            short = f"{short}-gpu{k}"
        found.append(short)
    return found


def slug(text: str) -> str:
    """Short file name of a card or processor, such as ``h200`` or ``amd-epyc-7r13``.

    Socket and memory stay: a V100-SXM2-16GB is another card than a V100-PCIE-16GB.
    """
    short = MAKERS.sub("", text.strip())
    short = re.sub(r"\((?:r|tm)\)|\bcpu\b|@.*", " ", short, flags=re.I)
    return re.sub(r"[^a-z0-9]+", "-", short.lower()).strip("-") or "machine"


def device_file(name: str, data: dict[str, Any], provenance: dict[str, Any]) -> DeviceFile:
    """A device file out of a step's data; what cannot run has no time."""
    times: dict[str, Timing | None] = dict.fromkeys(data["failed"])
    times |= {
        key: Timing(float(low), float(middle), float(high), int(count))
        for key, (low, middle, high, count) in data["times"].items()
    }
    return DeviceFile(
        format="placebench-device/1",
        name=name,
        kind="measured",
        provenance=provenance | ({"failed": data["failed"]} if data["failed"] else {}),
        times=dict(sorted(times.items())),
        statistic="median",
    )


def _device(
    name: str, data: dict[str, Any], provenance: dict[str, Any], signatures: int
) -> DeviceFile:
    missing = signatures - len(data["times"]) - len(data["failed"])
    return device_file(name, data, provenance | ({"not_reached": missing} if missing > 0 else {}))


def of_device(step: str, data: dict[str, Any], survey: dict[str, Any]) -> dict[str, Any]:
    """What the provenance of one device says beyond the machine."""
    counts = [each[3] for each in data["times"].values()]
    said: dict[str, Any] = {
        "device": step,
        "precision": "fp32",
        "method": data.get("method", METHOD),
        "rounds": max(counts, default=0),
        **data["info"],
    }
    if "threads" in data:
        said["threads"] = data["threads"]
    if step.startswith("cuda"):
        spec = parse(step)
        card = survey["cards"][spec.card]
        said |= {
            "precision": spec.precision,
            "card": card,
            "cuda": survey.get("cuda"),
            "cudnn": survey.get("cudnn"),
        }
        if "nvidia_smi" in survey:
            said["nvidia_smi"] = survey["nvidia_smi"]
        if spec.multiprocessors:
            said["share"] = (
                f"{spec.multiprocessors} of {card['multiprocessors']} multiprocessors, measured"
                " alone; caches and memory bandwidth are not shared out"
            )
        hosts = sorted(each[0] for each in data.get("dispatch", {}).values())
        if hosts:
            said["dispatch_s"] = {
                "what": "host time to dispatch one operator: min of each signature",
                "min": hosts[0],
                "median": hosts[len(hosts) // 2],
                "max": hosts[-1],
            }
    return said


def _link(
    name: str, data: dict[str, Any], common: dict[str, Any], survey: dict[str, Any]
) -> LinkFile:
    forward, backward = (
        [LinkPoint(int(n), float(low), float(middle)) for n, low, middle, *_ in data[way]]
        for way in ("forward", "backward")
    )
    said = {"link": data["how"], "method": data["method"], "rounds": data["rounds"]}
    if "card" in data:
        said["card"] = survey["cards"][data["card"]]["name"]
    if "peer_access" in data:
        said["peer_access"] = data["peer_access"]
    return LinkFile(
        format="placebench-link/1",
        name=name,
        kind="measured",
        provenance=common | said,
        forward=forward,
        backward=backward,
        model=summary(forward),
    )


def _read(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    try:
        data = path.read_bytes()
        found = json.loads(gzip.decompress(data) if path.name.endswith(".gz") else data)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {plainly(error)}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise FileError(f"{path}: is no file of a campaign ({FORMAT})")
    missing = [key for key in keys if key not in found]
    if missing:
        raise FileError(f"{path}: lacks {', '.join(missing)}")
    return found
