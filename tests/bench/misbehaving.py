"""Methods that do what methods should not, one a name; not a test module.

Loaded by the harness as a stranger's file. What a method says to its test, it prints.
"""

import ctypes
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from problems.answer import Answer
from solvers.method import Unsupported, method

ANY = ["throughput", "latency"]
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def zeros(instance):
    return Answer.of(np.zeros(instance.n, int))


def say_pid(pid):
    print(f"pid {pid}", flush=True)


@method(problems=ANY)
def good(instance, context, *, count: int = 1):
    for _ in range(count):
        context.report(zeros(instance))
    return zeros(instance)


@method(problems=ANY)
def until_deadline(instance, context):
    while context.time_left() > 0:
        time.sleep(0.005)
    return zeros(instance)


@method(problems=ANY)
def draws(instance, context):
    print("draws", context.rng.random(), random.random(), np.random.random(), hash("placebench"))
    return zeros(instance)


@method(problems=ANY)
def sleeps(instance, context):
    time.sleep(60)


@method(problems=ANY)
def spins(instance, context):
    while True:
        pass


@method(problems=ANY)
def spins_in_native_code(instance, context):
    re.match(r"(a+)+$", "a" * 64 + "b")  # exponential, holds the interpreter lock


@method(problems=ANY)
def ignores_sigterm(instance, context):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    context.report(zeros(instance))
    while True:
        time.sleep(1)


@method(problems=ANY)
def answers_then_hangs(instance, context):
    context.report(zeros(instance))
    time.sleep(60)


@method(problems=ANY)
def answers_after_the_limit(instance, context):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while context.time_left() > -0.5:
        time.sleep(0.01)
    return zeros(instance)


@method(problems=ANY)
def segfaults(instance, context):
    ctypes.string_at(0)


@method(problems=ANY)
def answers_then_segfaults(instance, context):
    context.report(zeros(instance))
    ctypes.string_at(0)


@method(problems=ANY)
def aborts(instance, context):
    os.abort()


@method(problems=ANY)
def leaves(instance, context):
    os._exit(0)


@method(problems=ANY)
def exits(instance, context):
    sys.exit(0)


@method(problems=ANY)
def kills_itself(instance, context):
    os.kill(os.getpid(), signal.SIGKILL)


@method(problems=ANY)
def raises(instance, context):
    raise RuntimeError("no such \udcff luck")  # a message that has no UTF-8


@method(problems=ANY)
def raises_lines(instance, context):
    context.report(zeros(instance))
    raise ValueError("first\n\x1b[2Jsecond\n")


@method(problems=ANY)
def gives_up(instance, context):
    raise Unsupported("only trees")


@method(problems=ANY)
def recurses(instance, context):
    return recurses(instance, context)


@method(problems=ANY)
def returns_nothing(instance, context):
    return None


@method(problems=ANY)
def returns_a_list(instance, context):
    return [0] * instance.n


@method(problems=ANY)
def returns_nan(instance, context):
    return Answer(np.full(instance.n, np.nan))


@method(problems=ANY)
def returns_floats(instance, context):
    return Answer(np.zeros(instance.n))


@method(problems=ANY)
def returns_strings(instance, context):
    return Answer(["cpu"] * instance.n)


@method(problems=ANY)
def returns_none_inside(instance, context):
    return Answer(None)


@method(problems=ANY)
def returns_ragged_order(instance, context):
    return Answer(np.zeros(instance.n, int), order=([[0], [1, 2]], [None]))


@method(problems=ANY)
def returns_too_few(instance, context):
    return Answer.of([0] * (instance.n - 1))


@method(problems=ANY)
def returns_another_instances(instance, context):
    return Answer.of([0] * (instance.n + 5))


@method(problems=ANY)
def returns_negative(instance, context):
    return Answer.of([-1] * instance.n)


@method(problems=ANY)
def returns_wide(instance, context):
    return Answer(np.zeros(200_000, int))


@method(problems=ANY)
def returns_over_64_bits(instance, context):
    return Answer(np.full(instance.n, 2**64 - 1, np.uint64))


@method(problems=ANY)
def returns_nan_starts(instance, context):
    order = [list(range(instance.n))] + [[] for _ in range(instance.K - 1)]
    return Answer.of([0] * instance.n, order, [float("nan")] * instance.n)


@method(problems=ANY)
def lies(instance, context):
    context.claim("optimal", 1e-9, "trust me")
    context.report_bound(1e9)
    context.report_bound(float("nan"))
    return zeros(instance)


@method(problems=ANY)
def spoils_a_good_answer(instance, context):
    context.report(zeros(instance))
    return Answer.of([-1] * instance.n)


@method(problems=ANY)
def leaves_a_child(instance, context):
    say_pid(subprocess.Popen(SLEEP).pid)
    return zeros(instance)


@method(problems=ANY)
def leaves_a_daemon(instance, context):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say_pid(os.getpid())
        time.sleep(60)
    time.sleep(0.2)
    return zeros(instance)


@method(problems=ANY)
def leaves_a_stranger(instance, context):
    say_pid(subprocess.Popen(SLEEP, env={}, start_new_session=True).pid)
    time.sleep(0.4)
    return zeros(instance)


@method(problems=ANY)
def leaves_many(instance, context):
    for _ in range(20):
        pid = os.fork()
        if pid == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1)
        say_pid(pid)
    time.sleep(60)


@method(problems=ANY)
def returns_twice(instance, context):
    if os.fork() == 0:
        raise RuntimeError("in the child")
    os.wait()
    return zeros(instance)


@method(problems=ANY)
def reports_from_threads(instance, context):
    def report(k):
        order = [list(range(instance.n))] + [[] for _ in range(instance.K - 1)]
        for _ in range(300):
            context.report(Answer.of([0] * instance.n, order, [1e3 + k] * instance.n))
            context.claim("feasible", 1.0, "x" * 400)

    threads = [threading.Thread(target=report, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return zeros(instance)


@method(problems=ANY)
def leaves_threads(instance, context):
    threading.Thread(target=time.sleep, args=(60,)).start()
    return zeros(instance)


@method(problems=ANY)
def floods_output(instance, context):
    block = b"x" * (1 << 20)
    for _ in range(100):
        os.write(1, block)
        os.write(2, block)
    print("the end")
    return zeros(instance)


@method(problems=ANY)
def floods_reports(instance, context):
    while True:
        context.report(zeros(instance))
        context.report_bound(context.rng.random())


@method(problems=ANY)
def scribbles_on_the_wire(instance, context):
    context.report(zeros(instance))
    for fd in range(3, 64):
        try:
            os.write(fd, b"\x05\x00\x00\x00\x04\xc1\xc1\xc1\xc1\xc1")
            os.write(fd, b"\x00\x00\x00\xf0\x04")
        except OSError:
            continue
    return zeros(instance)


@method(problems=ANY)
def closes_everything(instance, context):
    context.report(zeros(instance))
    os.closerange(0, 256)
    time.sleep(60)


@method(problems=ANY)
def changes_the_instance(instance, context):
    instance.time[:] = 0.0
    return zeros(instance)


@method(problems=ANY)
def litters(instance, context):
    import tempfile

    Path("solver.log").write_text("x")
    tempfile.mkstemp()
    print("folder", Path.cwd(), tempfile.gettempdir())
    return zeros(instance)


@method(problems=ANY)
def overwrites_what_it_finds(instance, context):
    """Everything of the harness's in the temporary folders, and its sealed memory."""
    import tempfile

    for path in Path(tempfile.gettempdir()).parent.glob("placebench*/**/*"):
        if path.is_file():
            path.write_bytes(b"spoiled")
            print("spoiled", path)
    harness = Path("/proc", os.environ["PLACEBENCH_SUPERVISOR"], "fd")
    for path in [*harness.iterdir(), *Path("/proc/self/fd").iterdir()]:
        try:
            if "memfd:placebench" not in os.readlink(path):
                continue
            with path.open("r+b") as file:
                file.write(b"spoiled")
            print("spoiled", path)
        except PermissionError:
            print("refused", path)
        except OSError:
            continue
    return zeros(instance)


@method(problems=ANY)
def sets_global_state(instance, context):
    np.random.seed(7)
    os.environ["OMP_NUM_THREADS"] = "64"
    os.chdir("/")
    return zeros(instance)


@method(problems=ANY)
def allocates_at_once(instance, context):
    context.report(zeros(instance))
    return np.ones(100 << 30, np.uint8)


@method(problems=ANY)
def allocates_by_and_by(instance, context):
    held = []
    while True:
        held.append(bytearray(10 << 20))


@method(problems=ANY)
def allocates_in_children(instance, context):
    for _ in range(6):
        if os.fork() == 0:
            held = bytearray(os.urandom(1 << 20)) * 250
            time.sleep(60)
            del held
    time.sleep(60)


@method(problems=ANY)
def aborts_without_memory(instance, context):
    print("terminate called after throwing an instance of 'std::bad_alloc'", flush=True)
    os.abort()


@method(problems=ANY)
def good_for_a_while(instance, context, *, count: int = 1):
    """Runs beside the others: two improving answers, the second after 0.2 s."""
    context.report(Answer.of(np.ones(instance.n, int)))
    time.sleep(0.2)
    return zeros(instance)


@method(problems=ANY)
def leaves_a_fugitive(instance, context):
    """Out of its session, environment and family at once, before anybody can have looked."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, b"%d" % os.getpid())
            os.closerange(3, 256)
            os.execve(SLEEP[0], SLEEP, {})
        os._exit(0)
    os.wait()
    say_pid(os.read(reading, 16).decode())
    return zeros(instance)


@method(problems=ANY)
def fork_bomb(instance, context):
    """Bounded to 41: each generation goes into a session of its own, leaves a stranger and dies."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        for _ in range(40):
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            stranger = os.fork()
            if stranger == 0:
                os.closerange(3, 256)
                os.execve(SLEEP[0], SLEEP, {})
            os.write(writing, b"%d\n" % stranger)
            if os.fork():
                os._exit(0)
        os.write(writing, b"%d\n" % os.getpid())
        time.sleep(60)
    said = b""
    while said.count(b"\n") < 41:
        said += os.read(reading, 1 << 12)
    for pid in said.split():
        say_pid(pid.decode())
    time.sleep(0.1)
    return zeros(instance)


@method(problems=ANY)
def kills_its_parent(instance, context):
    context.report(zeros(instance))
    say_pid(subprocess.Popen(SLEEP, start_new_session=True).pid)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


@method(problems=ANY)
def stops_its_parent(instance, context):
    os.kill(os.getppid(), signal.SIGSTOP)
    return zeros(instance)


@method(problems=ANY)
def signals_its_parent(instance, context):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        os.kill(os.getppid(), number)
    return zeros(instance)


@method(problems=ANY)
def kills_the_harness(instance, context):
    os.kill(int(os.environ["PLACEBENCH_SUPERVISOR"]), signal.SIGKILL)
    time.sleep(60)


@method(problems=ANY)
def stops_itself(instance, context):
    context.report(zeros(instance))
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)


@method(problems=ANY)
def ignores_all_signals(instance, context):
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    context.report(zeros(instance))
    while True:
        time.sleep(1)


@method(problems=ANY)
def raises_keyboard_interrupt(instance, context):
    raise KeyboardInterrupt


@method(problems=ANY)
def raises_base_exception(instance, context):
    class Strange(BaseException):
        pass

    raise Strange("neither an Exception")


@method(problems=ANY)
def overflows_the_stack(instance, context):
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, hard))
    sys.setrecursionlimit(1 << 30)

    def deeper(_):
        return list(map(deeper, [0]))  # through C each time

    return deeper(0)


@method(problems=ANY)
def returns_out_of_range(instance, context):
    return Answer.of([instance.K] * instance.n)


@method(problems=ANY)
def claims_optimal_wrongly(instance, context):
    context.claim("optimal", 1e6, "proved")
    context.report_bound(1e6)
    return zeros(instance)


@method(problems=ANY)
def claims_nonsense(instance, context):
    context.report(zeros(instance))
    context.claim("perfect", 1.0, "the best there is")
    return zeros(instance)


@method(problems=ANY)
def changes_the_instance_by_pointer(instance, context):
    ctypes.memset(instance.time.ctypes.data, 0, instance.time.nbytes)
    return zeros(instance)


@method(problems=ANY)
def patches_the_checker_and_the_clock(instance, context):
    import bench.frames
    import bench.worker
    import problems.checker

    problems.checker.check = lambda instance, answer: None
    bench.worker.size_limit = bench.frames.size_limit = lambda n: 1 << 40
    time.monotonic = lambda: 0.0
    context.deadline = float("inf")
    return Answer.of([-1] * instance.n)


@method(problems=ANY)
def stops_the_clock(instance, context):
    context.report(zeros(instance))
    time.monotonic = lambda: 0.0
    while context.time_left() > 0:
        time.sleep(0.01)
    return zeros(instance)


@method(problems=ANY)
def forges_frames(instance, context):
    """Ready again, done at once, a claim that is none, and an answer of another instance's size."""
    from bench import frames

    context.report(zeros(instance))
    forged = [frames.Ready(1e9, -1e9), frames.ClaimFrame("perfect", 0.0, ""), frames.Go(0.0),
              frames.AnswerFrame(device=b"odd"), frames.Done(-5)]  # fmt: skip
    for path in Path("/proc/self/fd").iterdir():
        try:
            if int(path.name) > 2 and os.readlink(path).startswith("pipe:"):
                for each in forged:
                    os.write(int(path.name), frames.pack(each))
        except OSError:
            continue
    time.sleep(60)


@method(problems=ANY)
def empties_the_store(instance, context):
    """Deletes and spoils all records and answers, once there are some."""
    context.report(zeros(instance))
    while not list(Path(os.environ["PLACEBENCH_TEST_STORE"]).glob("records/*/*.json")):
        time.sleep(0.02)
    for path in sorted(Path(os.environ["PLACEBENCH_TEST_STORE"]).glob("*/*/*.json*")):
        if path.parent.parent.name == "answers":
            path.write_bytes(b"spoiled")
        else:
            path.unlink()
        print("gone", path.name)
    return zeros(instance)


def _flood(descriptor):
    block = b"x" * (1 << 20)
    for _ in range(1 << 10):
        os.write(descriptor, block)


@method(problems=ANY)
def floods_stdout(instance, context):
    _flood(1)
    return zeros(instance)


@method(problems=ANY)
def floods_stderr(instance, context):
    _flood(2)
    return zeros(instance)


@method(problems=["latency"], refuses=lambda instance: "never\x1b[2J\n" if instance.n else None)
def refuses_all(instance, context):
    return zeros(instance)


@method(problems=ANY, needs=["no_such_module_anywhere"])
def needs_what_is_not_there(instance, context):
    return zeros(instance)


@method(problems=ANY, warm=True)
def fails_only_in_warm_up(instance, context):
    if "WARM" not in os.environ:
        os.environ["WARM"] = "1"
        raise RuntimeError("cold")
    return zeros(instance)
