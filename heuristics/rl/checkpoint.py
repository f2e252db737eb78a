"""Checkpoints: one safetensors file with weights, sizes and a digest; needs torch.

The digest is the SHA-256 of sizes and tensors, kept in the file's own header, so that a file that
was cut, edited or mixed up is refused. Nothing in such a file is executed.
"""

from __future__ import annotations

import dataclasses
import json
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from heuristics.rl.policy import Config, Policy
from problems.files import encode, write_atomically

FORMAT = "placebench-policy/1"
PRETRAINED = Path(__file__).with_name("pretrained.safetensors")
MODEL, OPTIMIZER = "model.", "optimizer."
HEADER = "placebench"


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and says why."""


class Checkpoint(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    config : Config
    tensors : dict of str to tensor
        Weights under ``model.``, state of the optimizer under ``optimizer.``.
    notes : dict
        Steps done, and how it was trained.
    digest : str
        SHA-256 of the content.
    """

    config: Config
    tensors: dict[str, torch.Tensor]
    notes: dict[str, Any]
    digest: str


Size = Annotated[int, msgspec.Meta(ge=1, le=4096)]


class _Sizes(msgspec.Struct, forbid_unknown_fields=True):
    """:class:`Config`, within what fits into memory."""

    hidden: Size
    layers: Annotated[int, msgspec.Meta(ge=0, le=64)]
    match: Size
    inputs: tuple[int, ...]


class _Header(msgspec.Struct):
    content: tuple[_Sizes, dict[str, Any]]
    digest: str


def digest_of(config: Config, tensors: dict[str, torch.Tensor], notes: dict[str, Any]) -> str:
    """SHA-256 of sizes, notes and tensors in the order of their names."""
    state = sha256(encode([FORMAT, dataclasses.asdict(config), notes]))
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        state.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        state.update(tensor.numpy().tobytes())
    return state.hexdigest()


def write(
    path: Path,
    policy: Policy,
    notes: dict[str, Any],
    optimizer: torch.optim.Optimizer | None = None,
) -> str:
    """Write a policy, with its optimizer where training is to go on; returns the digest.

    Raises
    ------
    CheckpointError
        If a weight is no number.
    """
    tensors = {MODEL + name: value for name, value in policy.state_dict().items()}
    if optimizer is not None:
        for index, entry in optimizer.state_dict()["state"].items():
            tensors |= {f"{OPTIMIZER}{index}.{name}": value for name, value in entry.items()}
    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    if name := _not_finite(tensors):
        raise CheckpointError(
            f"checkpoint {path}: not written, as {name} has values that are no numbers: the"
            " training has diverged"
        )
    digest = digest_of(policy.config, tensors, notes)
    config = dataclasses.asdict(policy.config)
    header = {"format": FORMAT, "content": [config, notes], "digest": digest}
    # One entry: safetensors writes several in an order of chance.
    write_atomically(path, save(tensors, metadata={HEADER: encode(header).decode()}))
    return digest


def read(path: Path) -> Checkpoint:
    """Read and check a file.

    Raises
    ------
    CheckpointError
        If there is no such file, it is no checkpoint, or its content is not what its digest says.
    """
    if not path.is_file():
        hint = "" if path.is_absolute() else f" in {Path.cwd()}: better give an absolute path"
        what = "is not a file" if path.exists() else f"there is no such file{hint}"
        raise CheckpointError(f"checkpoint {path}: {what}")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get(HEADER, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, json.JSONDecodeError) as error:
        raise CheckpointError(f"checkpoint {path}: not a safetensors file ({error})") from None
    said = header.get("format") if isinstance(header, dict) else None
    if said != FORMAT:
        raise CheckpointError(f"checkpoint {path}: format {said!r}, expected {FORMAT!r}")
    try:
        whole = msgspec.convert(header, _Header)
    except msgspec.ValidationError as error:
        raise CheckpointError(f"checkpoint {path}: broken header ({error})") from None
    wrong = sorted(name for name in tensors if tensors[name].dtype != torch.float32)
    if wrong:
        raise CheckpointError(
            f"checkpoint {path}: {wrong[0]} is of {tensors[wrong[0]].dtype}, not torch.float32"
        )
    if name := _not_finite(tensors):
        raise CheckpointError(f"checkpoint {path}: {name} has values that are no numbers")
    (sizes, notes), digest = whole.content, whole.digest
    config = Config(**msgspec.structs.asdict(sizes))
    found = digest_of(config, tensors, notes)
    if found != digest:
        raise CheckpointError(
            f"checkpoint {path}: digest {found[:16]}..., its header says {digest[:16]}...: the"
            " content was changed after it was written"
        )
    return Checkpoint(config, tensors, notes, digest)


def policy_of(found: Checkpoint, path: Path, device: torch.device) -> Policy:
    """The policy in a checkpoint.

    Raises
    ------
    CheckpointError
        If it was made for other columns or sizes than this version has.
    """
    if found.config.inputs != Config().inputs:
        raise CheckpointError(
            f"checkpoint {path}: made for {found.config.inputs} columns of units, states, places"
            f" and pairs; this version has {Config().inputs}"
        )
    policy = Policy(found.config)
    weights = _under(found.tensors, MODEL)
    wanted = {name: tuple(value.shape) for name, value in policy.state_dict().items()}
    shapes = {name: tuple(value.shape) for name, value in weights.items()}
    if shapes != wanted:
        wrong = sorted(
            name for name in shapes.keys() | wanted.keys() if shapes.get(name) != wanted.get(name)
        )
        raise CheckpointError(
            f"checkpoint {path}: {wrong[0]} has shape {shapes.get(wrong[0])}, expected"
            f" {wanted.get(wrong[0])} ({len(wrong)} tensors differ)"
        )
    policy.load_state_dict(weights)
    policy.to(device)
    return policy


def restore(found: Checkpoint, optimizer: torch.optim.Optimizer) -> None:
    """Put the optimizer's state back; nothing where the checkpoint has none."""
    kept = _under(found.tensors, OPTIMIZER)
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in kept.items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    if state:
        whole = optimizer.state_dict()
        optimizer.load_state_dict({"state": state, "param_groups": whole["param_groups"]})


def _not_finite(tensors: dict[str, torch.Tensor]) -> str:
    """Name of the first tensor with NaN or infinity; empty without one."""
    return next((name for name in sorted(tensors) if not tensors[name].isfinite().all()), "")


def _under(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
