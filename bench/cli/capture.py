"""``placebench capture``: graphs, device times and link times from this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench.cli import FAILED, USAGE
from problems import capture, files
from problems.capture.table import collect_signatures
from problems.catalogue import ROOT

app = typer.Typer(
    name="capture",
    help="Capture graphs, device times and link times on this machine (extra: capture).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SPECS = (
    "cpu:N, N threads on N cores; cuda:[Nsm:]PRECISION, a card or N multiprocessors of it in "
    "fp32, tf32 or bf16."
)
Budget = Annotated[float, typer.Option("--budget", help="Seconds of measurement.", min=1.0)]
Force = Annotated[bool, typer.Option("--force", help="Measure on a busy machine, too.")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the file, without ending.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Folder for the file; default: the library.")
]


@app.command("graph")
def graph(
    names: Annotated[list[str], typer.Argument(metavar="NETWORK...", help="Or 'all'.")],
    training: Annotated[
        bool, typer.Option("--training", help="Forward and backward, as NETWORK-train.")
    ] = False,
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch", help="With --training: samples a step; default: as in the library.", min=1
        ),
    ] = None,
    output: Output = None,
) -> None:
    """Capture the graphs of networks, without their weights."""
    if batch is not None and not training:
        raise typer.BadParameter("--batch goes with --training; else name a variant of the network")
    with _reported():
        # torch and transformers take seconds to import
        from problems.capture.models import BUILDERS, capture_graph, find
        from problems.capture.trained import TRAINED
        from problems.capture.training import capture_training_graph

        own = {} if batch is None else {"batch": batch}
        chosen = list(TRAINED if training else BUILDERS) if names == ["all"] else names
        for name in chosen:
            find(name)
        for name in chosen:
            with _progress() as progress:
                if training:
                    file = capture_training_graph(name, progress, **TRAINED.get(name, {}) | own)
                else:
                    file = capture_graph(name, progress)
            _write(output or ROOT / "graphs", f"{file.name}.json.gz", file)


@app.command("device")
def device(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help=SPECS)],
    budget: Budget = 60.0,
    name: Name = None,
    graphs: Annotated[
        list[Path] | None,
        typer.Option("--graph", help="Graph file, repeatable; default: all of the library."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of values and order.")] = 0,
    processes: Annotated[int, typer.Option(help="Processes that share the budget.", min=1)] = 3,
    force: Force = False,
    output: Output = None,
) -> None:
    """Time every operator signature of the graphs on a device of this machine."""
    # measuring itself runs in a child process; here psutil is all it takes
    from problems.capture.cuda_device import capture_cuda
    from problems.capture.device import capture_device

    with _reported():
        signatures = collect_signatures(graphs or (ROOT / "graphs").glob("*.json.gz"))
        with _progress() as progress:
            if spec.startswith("cuda"):
                file = capture_cuda(
                    spec, signatures, budget, name=name, seed=seed, progress=progress
                )
            else:
                file = capture_device(
                    spec,
                    signatures,
                    budget,
                    name=name,
                    seed=seed,
                    processes=processes,
                    force=force,
                    progress=progress,
                )
        for key, why in file.provenance.get("failed", {}).items():
            typer.echo(f"{signatures[key].op} ({key}) cannot run here: {why}", err=True)
        _write(output or ROOT / "devices", f"{file.name}.json.gz", file)


@app.command("links")
def links(
    kinds: Annotated[
        list[str] | None, typer.Argument(metavar="[LINK]...", help="Default: all there are.")
    ] = None,
    budget: Budget = 20.0,
    force: Force = False,
    output: Output = None,
) -> None:
    """Time transfers between two processes, through shared memory and the loopback."""
    from problems.capture.links import capture_links  # multiprocessing and sockets
    from problems.capture.pings import HOW

    with _reported():
        for kind in kinds or list(HOW):
            with _progress() as progress:
                file = capture_links(kind, budget, force=force, progress=progress)
            _write(output or ROOT / "links", f"{file.name}.json", file)


@app.command("campaign")
def campaign(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for at most 8 files.")],
    deadline: Annotated[float, typer.Option(help="Seconds after which it has ended.")] = 480.0,
    job: Annotated[
        list[Path] | None,
        typer.Option("--job", help="Graph or job file, repeatable; default: the library's graphs."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Step, repeatable; default: all there are.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Most rounds of a process, for a quick look.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of values and order.")] = 0,
    adopted: Annotated[
        Path | None, typer.Option("--adopt", help="Folder to adopt the results into at the end.")
    ] = None,
) -> None:
    """Measure everything this machine offers: cards, shares of them, threads, links."""
    from problems.capture.campaign import adopt, run, signatures  # only what is asked for

    with _reported():
        works = signatures.read(job or sorted((ROOT / "graphs").glob("*.json.gz")))
        with _progress() as progress:
            state = run.campaign(
                out, works, deadline, only=only, rounds=rounds, seed=seed, tell=progress
            )
        for line in run.summary(state):
            typer.echo(line)
        if adopted is not None:
            for path in adopt.write(adopt.adopt(out), adopted):
                typer.echo(str(path))
        if not any(step["state"] in ("done", "partial") for step in state["steps"]):
            raise typer.Exit(FAILED)


@app.command("adopt")
def adopt_campaign(
    campaign: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of a campaign.")],
    name: Annotated[
        str | None, typer.Option("--name", help="First part of all names; default: card and CPU.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Root of a library; default: that of the suite."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace files of the same names that differ.")
    ] = False,
) -> None:
    """Turn what a campaign measured into device, link and platform files."""
    from problems.capture.campaign import adopt  # only what is asked for

    with _reported():
        for path in adopt.write(adopt.adopt(campaign, name), output or ROOT, replace):
            typer.echo(str(path))


@app.command("validate")
def validate(
    networks: Annotated[list[str], typer.Argument(metavar="NETWORK...")],
    device: Annotated[str, typer.Option(help="Device file of this machine.")] = "epyc3-1t-pair",
    link: Annotated[str, typer.Option(help="Link file of this machine.")] = "shm",
    samples: Annotated[int, typer.Option(help="Of each placement.", min=2)] = 20,
    limit: Annotated[float, typer.Option(help="Seconds for each method.", min=0.1)] = 10.0,
    force: Force = False,
) -> None:
    """Execute two-device placements for real and compare them with the cost model."""
    from bench import validation  # methods and torch

    with _reported():
        for network in networks:
            for row in validation.validate(
                network, device, link, samples=samples, time_limit_s=limit, force=force
            ):
                typer.echo(
                    f"{row.network}  {row.placement}: predicted {row.predicted_s * 1e3:.1f} ms,"
                    f" measured {row.measured_s * 1e3:.1f} ms ({row.error:+.1%})"
                )


def _write(folder: Path, name: str, file: object) -> None:
    files.write(folder / name, file)
    typer.echo(str(folder / name))


@contextmanager
def _reported() -> Iterator[None]:
    """Turn what a user can mend into one line and an exit code."""
    try:
        yield
    except ModuleNotFoundError as error:
        message, code = f"{error.name} is not installed: pip install -e '.[capture]'", FAILED
    except RuntimeError as error:  # a busy machine, or a child process that failed
        message, code = str(error), FAILED
    except ValueError as error:  # a wrong argument or file
        message, code = str(error), USAGE
    else:
        return
    typer.echo(f"placebench: {message}", err=True)
    raise typer.Exit(code)


@contextmanager
def _progress() -> Iterator[capture.Progress]:
    """A bar on a terminal, nothing in a pipe."""
    console = Console(stderr=True)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda fraction, message: bar.update(task, completed=fraction, description=message)
