"""What the studies that make their own runs share: arguments, progress, and where results go."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bench import api
from bench.cli import units
from bench.cli.progress import Plain
from bench.cluster_slots import ClusterError
from bench.metrics import shifted_geometric_mean
from bench.records import Record
from bench.runs import Runs
from problems.catalogue import Library
from problems.files import write_atomically
from problems.graph import OpGraph
from problems.instance import Instance, InstanceSpec
from problems.platform import Platform, link_names
from problems.resolve import resolve

STORE = Path("results/runs")
STUDIES = Path("results/studies")


def parser(program: str, description: str | None, limit: str) -> argparse.ArgumentParser:
    """Arguments of a study: `--time`, `--jobs`, `--cluster`, `--store` and `--save`.

    Parameters
    ----------
    limit : str
        Default of ``--time``, the limit of a run.
    """
    result = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    default, text = units.seconds(limit), f"limit of a run (default {limit})"
    result.add_argument("--time", type=duration, default=default, metavar="T", help=text)
    text = "runs at the same time (default 1)"
    result.add_argument("--jobs", type=positive, default=1, metavar="N", help=text)
    text = "make the runs on the workers of this Dask scheduler (extra `cluster`), not here"
    result.add_argument("--cluster", metavar="ADDRESS", help=text)
    text = f"records; good ones are reused, so a study that was cut goes on (default {STORE})"
    result.add_argument("--store", type=folder, default=STORE, help=text)
    result.add_argument("--save", action="store_true", help=f"write the study to {STUDIES}")
    output(result)
    return result


def positive(text: str) -> int:
    """Read a whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not at least 1")
    return value


def output(of: argparse.ArgumentParser) -> None:
    """Let tests write elsewhere than to :data:`STUDIES`."""
    of.add_argument("--output", type=folder, default=STUDIES, help=argparse.SUPPRESS)


def folder(text: str) -> Path:
    """Read a folder that is there or can be made."""
    path = Path(text)
    if not text or (path.exists() and not path.is_dir()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return path


def duration(text: str) -> float:
    """Read a time limit in seconds, with what is wrong about it."""
    try:
        return units.seconds(text)
    except ValueError as error:  # argparse has its own words for one, which say less
        raise argparse.ArgumentTypeError(str(error)) from None


def progress() -> Plain:
    """A line a finished run, apart from the study's own output."""
    return Plain(sys.stderr)


def instance(
    library: Library,
    spec: InstanceSpec,
    platform: Platform | None = None,
    graph: OpGraph | None = None,
) -> Instance:
    """An instance of the library's parts that it need not list, or with parts of one's own."""
    found = library.platform(spec.platform) if platform is None else platform
    return resolve(
        spec, library.graph(spec.graph) if graph is None else graph, found,
        {each.device: library.device(each.device) for each in found.devices},
        {name: library.link(name) for name in sorted(link_names(found))}, "study",
    )  # fmt: skip


def runs(
    given: argparse.Namespace,
    instances: str | Sequence[str | Instance],
    entries: Sequence[str],
    **more: Any,
) -> Runs:
    """Make the runs of a study that its store lacks; all of its runs.

    Parameters
    ----------
    given : Namespace
        Of :func:`parser`.
    **more
        Of :func:`bench.run`, before what `given` says.
    """
    with progress() as shown:
        said = {
            "store": given.store, "time_limit_s": given.time, "jobs": given.jobs,
            "cluster": given.cluster, "progress": shown,
        }  # fmt: skip
        return api.run(instances, entries, **{**said, **more})


def outcomes(records: Iterable[Record], labels: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """One row a run.

    Parameters
    ----------
    labels : mapping of str to mapping
        What the study calls an instance, by digest: the first columns.

    Returns
    -------
    DataFrame
        Behind the labels `entry`, `seed`, `objective` (seconds; NaN without an answer), `claimed`
        (bound in seconds, NaN without one), `infeasible` (it says that there is no answer),
        `termination`, `wall` and `last` (seconds of the run, and to its last improvement),
        `overrun` (seconds) and `peak` (bytes).
    """
    nan = float("nan")
    return pd.DataFrame(
        {
            **labels[each.digest],
            "entry": each.entry,
            "seed": each.seed,
            "objective": nan if each.objective is None else each.objective,
            "claimed": nan if each.claimed_bound is None else each.claimed_bound,
            "infeasible": each.claim == "infeasible",
            "termination": each.termination,
            "wall": each.wall_s,
            "last": each.trace[-1][0] if each.trace else nan,
            "overrun": each.overrun_s,
            "peak": each.peak_bytes,
        }
        for each in records
    )


def mean(ratios: Iterable[float]) -> float:
    """Geometric mean of what is a number; NaN of nothing."""
    return shifted_geometric_mean([each for each in ratios if each == each], 0.0)


def comma_separated(found: pd.DataFrame) -> str:
    """The rows of a study."""
    return str(found.to_csv(index=False, float_format="%.9g", lineterminator="\n"))


def publish(given: argparse.Namespace, name: str, texts: dict[str, str]) -> None:
    """Print the page (ending ``md``); with ``--save`` write all texts, by their endings."""
    print(texts["md"], end="")
    if given.save:
        for ending, text in texts.items():
            write_atomically(given.output / f"{name}.{ending}", text.encode())


def report(
    given: argparse.Namespace,
    name: str,
    found: pd.DataFrame,
    page: str,
    draw: Callable[[pd.DataFrame, Path], None],
) -> None:
    """Print the page; with ``--save`` write it, its rows and the figure."""
    publish(given, name, {"md": page, "csv": comma_separated(found)})
    if given.save:
        draw(found, given.output / f"{name}.svg")


def guarded(main: Callable[[], int]) -> int:
    """Run a study; a wrong request is one line and exit code 2, an interruption 130.

    What cannot be written or read, or a cluster that does not answer, is one line and code 1.
    """
    try:
        return main()
    except ClusterError as error:  # as `placebench run` has it: it may answer the next time
        print(f"placebench: {error}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"placebench: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a full disk, a folder that cannot be written to
        print(f"placebench: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("placebench: interrupted; the same command goes on from there", file=sys.stderr)
        return 130
