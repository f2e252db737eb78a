"""The cases of the torture table: what each method does, and how its row has to look."""

from __future__ import annotations

from dataclasses import dataclass

from bench.records import Termination

LIMIT_S = 0.5
MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class Case:
    """A misbehaving method and its row.

    Attributes
    ----------
    does : str
        In words.
    termination, check, signal, rule : str
        Fields of the record; `rule` is the first violated one.
    orphans : int
        Processes that it leaves behind, all of which are to be ended.
    limit_s : float
        Limit of the run in seconds.
    """

    does: str
    termination: Termination
    check: str = "none"
    signal: str = ""
    rule: str = ""
    orphans: int = 0
    limit_s: float = LIMIT_S

    @property
    def row(self) -> tuple[str, str, str, str, int]:
        """What is compared."""
        return self.termination, self.check, self.signal, self.rule, self.orphans


def _late(does: str, check: str = "none", signal: str = "SIGTERM", orphans: int = 0) -> Case:
    return Case(does, "time-limit", check, signal, orphans=orphans)


def _done(does: str, orphans: int = 0, limit_s: float = LIMIT_S) -> Case:
    return Case(does, "completed", "ok", orphans=orphans, limit_s=limit_s)


def _wrong(does: str, rule: str = "shape") -> Case:
    return Case(does, "completed", "invalid", rule=rule)


def _died(does: str, signal: str = "", check: str = "none", orphans: int = 0) -> Case:
    return Case(does, "crash", check, signal, orphans=orphans)


def _raised(does: str, check: str = "none") -> Case:
    return Case(does, "error", check)


def _memory(does: str, check: str = "none", signal: str = "", orphans: int = 0) -> Case:
    return Case(does, "memory-limit", check, signal, orphans=orphans, limit_s=10.0)


CASES = {
    "good": _done("nothing wrong"),
    "draws": _done("nothing wrong, with random numbers"),
    # Time.
    "sleeps": _late("sleeps for a minute"),
    "spins": _late("loops for ever in Python"),
    "spins-in-native-code": _late("loops in native code, holding the interpreter lock"),
    "ignores-sigterm": _late("answers, ignores SIGTERM", "ok", "SIGKILL"),
    "ignores-all-signals": _late("ignores every signal that can be", "ok", "SIGKILL"),
    "stops-itself": _late("answers, then sends itself SIGSTOP", "ok"),
    "stops-the-clock": _late("replaces time.monotonic by a clock that stands", "ok"),
    "answers-then-hangs": _late("answers, then hangs", "ok"),
    "answers-after-the-limit": _late("answers 0.5 s after the limit", signal=""),
    # Death.
    "segfaults": _died("reads address 0", "SIGSEGV"),
    "answers-then-segfaults": _died("answers, then reads address 0", "SIGSEGV", "ok"),
    "overflows-the-stack": _died("recurses in native code", "SIGSEGV"),
    "aborts": _died("calls abort()", "SIGABRT"),
    "leaves": _died("leaves with status 0, without an answer"),
    "kills-itself": _died("sends itself SIGKILL", "SIGKILL"),
    "kills-its-parent": _died("answers, then kills its parent", "SIGKILL", "ok", orphans=1),
    "stops-its-parent": _done("stops its parent"),
    "signals-its-parent": _done("sends its parent every signal that ends a process"),
    # Exceptions.
    "exits": _raised("raises SystemExit(0)"),
    "raises": _raised("raises with a message that is no UTF-8"),
    "raises-lines": _raised("answers, then raises several lines with control characters", "ok"),
    "raises-keyboard-interrupt": _raised("raises KeyboardInterrupt"),
    "raises-base-exception": _raised("raises a BaseException"),
    "gives-up": _raised("raises Unsupported"),
    "cannot-be-imported": _raised("its file raises ImportError in the process of the run"),
    "recurses": _raised("recurses without end in Python"),
    # Answers.
    "returns-nothing": Case("returns None", "no-answer"),
    "returns-a-list": _wrong("returns a list"),
    "returns-nan": _wrong("returns NaN"),
    "returns-floats": _wrong("returns floats"),
    "returns-strings": _wrong("returns strings"),
    "returns-none-inside": _wrong("returns an answer of None"),
    "returns-ragged-order": _wrong("returns ragged orders"),
    "returns-too-few": _wrong("returns one device too few"),
    "returns-another-instances": _wrong("returns the answer of another instance"),
    "returns-negative": _wrong("returns negative devices", "device"),
    "returns-out-of-range": _wrong("returns a device that is not there", "device"),
    "returns-wide": _wrong("returns 200,000 devices for 8 nodes"),
    "returns-over-64-bits": _wrong("returns numbers over 63 bits"),
    "returns-nan-starts": _wrong("returns start times of NaN"),
    "spoils-a-good-answer": _wrong("a good answer, then a bad one, which counts", "device"),
    # Claims.
    "lies": _done("claims an optimum of 1 ns, and a bound of 30 years"),
    "claims-optimal-wrongly": _done("claims its poor answer optimal, with another objective"),
    "claims-nonsense": _raised("answers, then claims what is not in the vocabulary", "ok"),
    # Processes and threads.
    "leaves-a-child": _done("leaves a child", 1),
    "leaves-a-daemon": _done("leaves a daemon that ignores SIGTERM", 1),
    "leaves-a-stranger": _done("leaves a child in a session of its own, without environment", 1),
    "leaves-a-fugitive": _done("the same, whose parent is gone, and returns at once", 1),
    "leaves-many": _late("leaves 20 sessions, and hangs", orphans=20),
    "fork-bomb": _done("41 in sessions of their own, of dead parents", 41, limit_s=5.0),
    "returns-twice": _done("forks, and lets the child raise"),
    "leaves-threads": _done("leaves a thread that is no daemon"),
    # Floods and the wire.
    "floods-stdout": _done("writes 1 GiB to standard output", limit_s=60.0),
    "floods-stderr": _done("writes 1 GiB to standard error", limit_s=60.0),
    "floods-reports": _late("reports without end", "ok"),
    "scribbles-on-the-wire": _died("writes garbage to every descriptor", "", "ok"),
    "forges-frames": _wrong("writes frames of its own making"),
    "closes-everything": _late("answers, then closes every descriptor", "ok"),
    # The place.
    "changes-the-instance": _raised("writes to the instance's arrays"),
    "changes-the-instance-by-pointer": _done("writes to the instance's memory by pointer"),
    "patches-the-checker-and-the-clock": _wrong("replaces checker, limits and clock", "device"),
    "litters": _done("leaves files in its folders"),
    "empties-the-store": _done("deletes all records, spoils all answers", limit_s=10.0),
    "sets-global-state": _done("sets random state, environment and folder"),
    "fails-only-in-warm-up": _done("raises in the warm-up only"),
    # Memory.
    "allocates-at-once": _memory("answers, then asks for 100 GiB", "ok"),
    "allocates-by-and-by": _memory("asks for ever more"),
    "allocates-in-children": _memory("has six children take 250 MB each", signal="SIGKILL"),
    "aborts-without-memory": _memory("aborts as C++ does without memory", signal="SIGABRT"),
}
