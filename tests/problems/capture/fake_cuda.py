"""A fake of the few CUDA calls that capture makes, on CPU tensors: no card is here in tests.

It shows that the calls are made in order and that what they say is kept; not that a card would
answer so.
"""

from __future__ import annotations

import functools
import importlib
import json
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from problems.capture.campaign.children import Ending


class FakeEvent:
    """The moment of its recording on the host."""

    def __init__(self, enable_timing: bool = False) -> None:
        assert enable_timing
        self.at = 0.0

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, other: FakeEvent) -> float:
        return (other.at - self.at) * 1e3


class FakeCuda:
    """Stands for ``torch.cuda``.

    Parameters
    ----------
    poisonous : bool
        After the first error nothing works any more, as after a failed assertion on a card.
    cards, major, green : int, int, bool
        Cards, their compute capability, and whether there are green contexts.
    streams : bool
        Whether green contexts have streams (later versions) or are set (the first ones).
    """

    Event = FakeEvent

    def __init__(
        self,
        poisonous: bool = False,
        cards: int = 1,
        major: int = 9,
        green: bool = True,
        streams: bool = True,
    ) -> None:
        self.poisonous, self.cards, self.major = poisonous, cards, major
        self.log: list[Any] = []
        fake = self

        class Context:
            if streams:

                def Stream(self) -> str:
                    return "its stream"

            def set_context(self) -> None:
                fake.log.append("set")

            def pop_context(self) -> None:
                fake.log.append("pop")

        def create(*, num_sms: int, device_id: int) -> Context:
            fake.log.append((num_sms, device_id))
            return Context()

        self.green_contexts = SimpleNamespace(
            SUPPORTED=green, GreenContext=SimpleNamespace(create=create)
        )

    @contextmanager
    def stream(self, stream: str) -> Iterator[None]:
        self.log.append(f"in {stream}")
        yield
        self.log.append(f"out of {stream}")

    def synchronize(self) -> None:
        if self.poisonous and sys.exc_info()[0] is not None:
            raise RuntimeError("CUDA error: device-side assert triggered")

    def init(self) -> None:
        pass

    def set_device(self, card: int) -> None:
        self.log.append(f"card {card}")

    def empty_cache(self) -> None:
        self.log.append("emptied")

    def mem_get_info(self, card: int) -> tuple[int, int]:
        return 2**28, 2**30

    def is_available(self) -> bool:
        return self.cards > 0

    def device_count(self) -> int:
        return self.cards

    def can_device_access_peer(self, a: int, b: int) -> bool:
        return True

    def get_device_properties(self, card: int) -> SimpleNamespace:
        return SimpleNamespace(
            name="NVIDIA Fake 100 PCIe",
            total_memory=2**30,
            multi_processor_count=132,
            major=self.major,
            minor=0,
        )


def install(cuda: FakeCuda) -> None:
    """Let the measuring programs use the fake."""
    names = ("replay", "links", "survey", "timing")
    replay, links, survey, timing = (
        importlib.import_module(f"problems.capture.cuda_{name}") for name in names
    )
    timing.FLUSH_BYTES = 1 << 10
    replay.replay = functools.partial(replay.replay, cuda=cuda, device="cpu")
    links.measure = functools.partial(links.measure, cuda=cuda, devices=("cpu", "cpu"))
    survey.survey = functools.partial(survey.survey, cuda)


def program(module: str) -> None:
    """Run a measuring program as a process of its own does."""
    found = sys.modules.get(module)
    if found is None:
        runpy.run_module(module, run_name="__main__")
    else:
        found.main()


def command(options: str = "") -> list[str]:
    """Command that runs measuring programs with a fake card; options of :class:`FakeCuda`."""
    code = (
        "import sys; from tests.problems.capture import fake_cuda as f;"
        f"f.install(f.FakeCuda({options})); f.program(sys.argv[1])"
    )
    return [sys.executable, "-c", code]


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Scripted:
    """Launches nothing: each program takes the time it is given and says what is expected.

    Parameters
    ----------
    clock : Clock
        Moved on.
    survey : dict
        What the survey says.
    late : float
        Every program takes so many times its budget, if it is not stopped.
    """

    def __init__(self, clock: Clock, survey: dict[str, Any], late: float = 1.0) -> None:
        self.clock, self.survey, self.late = clock, survey, late
        self.jobs: list[tuple[str, dict[str, Any], float]] = []

    def __call__(
        self,
        module: str,
        job: dict[str, Any],
        threads: int | None,
        seconds: float,
        hear: Callable[[dict[str, Any]], None],
    ) -> Ending:
        json.dumps(job)
        name = module.removeprefix("problems.capture.")
        begin = self.clock.now
        self.jobs.append((name, job, begin))
        if name == "cuda_survey":
            self.clock.now += 2
            hear({"result": self.survey})
            return Ending(0)
        takes = 2 + job["budget_s"] * self.late
        if name == "cuda_replay":
            hear({"times": {key: [1e-5, 2e-5] for key in job["signatures"]}})
        if takes > seconds:
            self.clock.now += seconds
            return Ending(-9, stopped=True)
        self.clock.now += takes
        if name == "replay":
            hear({"result": {"samples": {k: [1e-3] * 3 for k in job["signatures"]}, "failed": {}}})
        elif name != "cuda_replay":
            points = [[n, 1e-6 * n, 2e-6 * n] for n in job["sizes"]]
            ways = {"forward": points, "backward": points}
            hear({"result": ways | {"rounds": 3, "how": "somehow", "method": "some"}})
        return Ending(0)


SURVEY = {
    "torch": "2.11.0",
    "cuda": "13.0",
    "cudnn": 91900,
    "green_contexts": True,
    "cards": [{"name": "NVIDIA H200", "memory_bytes": 2**37, "multiprocessors": 132, "bf16": True}],
}
VECTOR = {"tensor": [[64], [1], "float32"]}
MATRIX = {"tensor": [[32, 32], [32, 1], "float32"]}
SIGNATURES: dict[str, dict[str, Any]] = {
    "add": {"op": "aten.add.Tensor", "args": [VECTOR, VECTOR]},
    "product": {"op": "aten.mm.default", "args": [MATRIX, MATRIX], "flops": 65536.0},
    "wrong": {"op": "aten.mm.default", "args": [MATRIX, VECTOR]},
    "zeros": {"op": "aten.zeros.default", "args": [[4]], "kwargs": {"dtype": {"dtype": "float32"}}},
}
