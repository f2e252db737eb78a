"""Signals to the command line end it in order, however many come."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from bench.cli import main, signals
from bench.cli.signals import Ending
from tests.bench import harness


@pytest.mark.parametrize(
    ("number", "repeated", "expected"),
    [
        (signal.SIGINT, 1, 130), (signal.SIGINT, 8, 130), (signal.SIGTERM, 1, 143),
        (signal.SIGHUP, 2, 129),
    ],
)  # fmt: skip
def test_a_signal_ends_all_and_keeps_what_is_finished(
    library, tmp_path, number, repeated, expected
):
    code = (
        "import sys; from pathlib import Path; import problems.catalogue as c;"
        f"c.ROOT = Path({str(library.root)!r});"
        "from bench.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    store = tmp_path / "runs"
    command = [sys.executable, "-c", code, "run", "-i", "full", "-m", "single,random"]
    command += ["--time", "60", "--store", str(store)]
    with harness.start(command, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not list(store.glob("records/*/*.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for _ in range(repeated):
            process.send_signal(number)
            time.sleep(0.02)
        _, err = process.communicate(timeout=60)
    assert process.returncode == expected
    assert not harness.children_of_harness(process.pid)
    assert re.search(r"\d+ finished runs? (is|are) kept in", err)
    assert "Traceback" not in err


def test_an_interrupt_while_a_file_is_loaded_is_said(tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text("import time; print('loading', flush=True); time.sleep(60)")
    command = [sys.executable, "-m", "bench.cli", "conformance", str(slow)]
    with harness.start(command, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "placebench: interrupted\n"


def listening(*ending):
    """Signals may be ignored where the tests are run: by a script, a service, ``nohup``."""
    for each in ending:
        signal.signal(each, signal.default_int_handler)


def test_an_error_that_others_make_of_a_signal_is_the_signal(monkeypatch, capsys):
    def importing(**_):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt as signalled:  # as a compiled module does that is being imported
            raise ImportError("initialization failed") from signalled

    listening(signal.SIGTERM)
    monkeypatch.setattr("bench.cli.app.app", importing)
    assert main(["list"]) == 143
    said = capsys.readouterr().err
    assert said == "placebench: interrupted (ImportError: initialization failed)\n"


def test_an_error_without_a_signal_keeps_its_traceback(monkeypatch):
    def failing(**_):
        raise ImportError("initialization failed")

    monkeypatch.setattr("bench.cli.app.app", failing)
    with pytest.raises(ImportError, match="initialization failed"):
        main(["list"])


def test_handlers_are_as_before_where_no_signal_came():
    listening(*signals.ENDING)
    before = [signal.getsignal(each) for each in signals.ENDING]
    with Ending() as ending:
        assert [signal.getsignal(each) for each in signals.ENDING] != before
    assert ending.received is None
    assert [signal.getsignal(each) for each in signals.ENDING] == before


def test_the_first_signal_interrupts_and_one_much_later_again(monkeypatch):
    listening(signal.SIGINT, signal.SIGTERM)
    with Ending() as ending:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert ending.code == 143
        monkeypatch.setattr(signals, "PATIENCE_S", 0.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert ending.code == 143
    os.kill(os.getpid(), signal.SIGINT)  # about to leave: nothing disturbs it


def test_ignored_signals_stay_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Ending():
        os.kill(os.getpid(), signal.SIGHUP)


def test_another_thread_does_not_listen():
    seen = []

    def work():
        with Ending() as ending:
            seen.append(ending.received)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None]
