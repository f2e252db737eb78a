"""The Python side of the command line: `bench.load`, `bench.run`, `bench.check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench import presets, selection
from bench.entries import Entry, distinct
from bench.records import Store
from bench.runs import Runs
from bench.suite import Progress, run_suite
from problems.answer import Answer
from problems.catalogue import Library
from problems.checker import Verdict
from problems.checker import check as judge
from problems.instance import Instance


def load(name: str | Path) -> Instance:
    """Load one instance: an id of the library, or the path of a bundle file.

    Raises
    ------
    FileError
        If there is none of that name, or a file is broken.
    """
    library = Library()
    if isinstance(name, Path) or Path(name).is_file():
        return library.load_path(name)
    return library.load(name)


def check(instance: Instance, answer: Answer) -> Verdict:
    """Judge an answer: the objective in seconds, or the rules that it breaks."""
    return judge(instance, answer)


def run(
    instances: str | Instance | Sequence[str | Instance],
    methods: str | Entry | Sequence[str | Entry] = "default",
    *,
    store: str | Path = "results/runs",
    seeds: int | Sequence[int] = (0,),
    time_limit_s: float = 10.0,
    memory_limit_bytes: int | None = None,
    threads: int = 1,
    jobs: int = 1,
    cluster: str | None = None,
    rerun: bool = False,
    progress: Progress = lambda event: None,
) -> Runs:
    """Run methods on instances, as ``placebench run`` does.

    Parameters
    ----------
    instances : str, Instance, or several
        What ``-i`` takes, or loaded instances.
    methods : str, Entry, or several
        What ``-m`` takes, or parsed entries.
    store : str or Path
        Folder of the records; good ones that are there are reused.
    seeds : int or sequence of int
        How many, from 0, or which.

    Returns
    -------
    Runs
        A list of :class:`bench.records.Record` that a notebook shows as a table; its ``frame()``
        has a row a run, with the gaps to the bound and to the best known answer. See
        :func:`bench.suite.run_suite`, which has the other parameters.

    Raises
    ------
    ValueError
        On an unknown instance, method or option, or a limit out of range.
    """
    if isinstance(seeds, int) and seeds < 1:
        raise ValueError(f"seeds is {seeds}, not at least 1 (or a sequence of seeds)")
    library = Library()
    chosen: list[Instance] = []
    for each in [instances] if isinstance(instances, str | Instance) else instances:
        if isinstance(each, Instance):
            chosen.append(each)
        else:
            chosen += [selection.load(s, library) for s in selection.select([each], library)]
    entries: list[Entry] = []
    for method in [methods] if isinstance(methods, str | Entry) else methods:
        entries += [method] if isinstance(method, Entry) else presets.parse([method])
    distinct_instances = list({instance.digest: instance for instance in chosen}.values())
    records = run_suite(
        distinct_instances,
        distinct(entries),
        store=Store(store),
        seeds=range(seeds) if isinstance(seeds, int) else seeds,
        time_limit_s=time_limit_s,
        memory_limit_bytes=memory_limit_bytes,
        threads=threads,
        jobs=jobs,
        cluster=cluster,
        rerun=rerun,
        progress=progress,
    )
    return Runs(records, distinct_instances)
