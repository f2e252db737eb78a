"""Programs as methods: anything that reads an instance file and prints answers as JSON lines.

``exec:./solver {instance} {seconds} {seed}`` names one on the command line; a ``.toml`` file says
more of it. The program runs inside the process group of the run, under the same limits; bench's
README has the protocol.
"""

from __future__ import annotations

import faulthandler
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from bench import line_protocol
from bench.method_files import EntryError, absolute
from problems import files
from problems.answer import Answer
from problems.formats.resolved import to_bundle
from problems.instance import Instance
from problems.rules import RULES
from solvers.method import Context, Method, Option, OptionValue

PREFIX = "exec:"
ALWAYS = ("instance", "seconds", "seed")
PLACEHOLDERS = (*ALWAYS, "threads")
_PLACE = re.compile(r"\{(\w+)\}")


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a ``.toml`` file says of a program.

    Attributes
    ----------
    name : str
        The entry's name.
    command : str or list of str
        With ``{instance}``, ``{seconds}``, ``{seed}``, ``{threads}`` and ``{OPTION}`` in it; the
        first three are appended to a command without any. Words that name a file are relative to
        the folder of the ``.toml`` file.
    options : dict
        Option -> default.
    files : list of str
        Further files that are a part of the program: a change of one is a change of it.
    """

    name: str
    command: str | list[str]
    version: str = ""
    problems: list[str] = msgspec.field(default_factory=lambda: list(RULES))
    kind: Literal["exact", "heuristic"] = "heuristic"
    source: str = "unstated"
    summary: str = ""
    options: dict[str, bool | int | float | str] = {}
    files: list[str] = []


@dataclass
class Executable:
    """The function of a method that runs a program.

    Attributes
    ----------
    words : tuple of str
        The command, placeholders still in it.
    """

    name: str
    words: tuple[str, ...]
    _file: Path | None = field(default=None, init=False)

    def prepare(self, instance: Instance) -> None:
        """Write the instance for the program; the harness calls it before the clock starts."""
        self._file = _written(instance, Path(tempfile.mkdtemp(prefix="instance-")))

    def __call__(
        self, instance: Instance, context: Context, **options: OptionValue
    ) -> Answer | None:
        """Run the program and hand on what it prints.

        Raises
        ------
        Unsupported
            If the program says so.
        RuntimeError
            If it leaves with another exit status than 0 and has not given an answer.
        """
        with ExitStack() as undo:
            file = self._file
            if file is None:
                file = _written(instance, Path(undo.enter_context(tempfile.TemporaryDirectory())))
            values = {
                "instance": str(file),
                "seconds": f"{max(0.0, context.time_left()):.3f}",
                "seed": str(context.seed),
                "threads": str(context.threads),
                **{name: _text(value) for name, value in options.items()},
            }
            words = [_PLACE.sub(lambda m: values.get(m[1], m[0]), word) for word in self.words]
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0
            )
            undo.enter_context(process)
            undo.callback(process.kill)  # only where this is left by an exception
            answers = line_protocol.relay(process, instance, context)
            code = process.wait()
        _ended(self.name, code, answers)
        return None  # everything has been reported


def is_program(text: str) -> bool:
    """Whether a locator or a part of ``-m`` names a program."""
    return text.startswith(PREFIX) or text.endswith(".toml")


def locate(text: str) -> str:
    """What `text` names, wherever it is read later: with absolute paths."""
    if not text.startswith(PREFIX):
        return str(absolute(Path(text)))
    words = _split(text)
    return PREFIX + shlex.join(_absolute(words, Path.cwd()))


def load(locator: str) -> tuple[Method, str]:
    """The method of a program and the digest of what it is made of.

    Raises
    ------
    EntryError
        If the file or the command cannot be used; the program itself is not started.
    """
    if locator.startswith(PREFIX):
        base, where = Path.cwd(), locator
        words = _split(locator)
        program = Program(_name_of(words, where), words)
    else:
        base, where = Path(locator).parent, locator
        program = _described(Path(locator))
        given = program.command
        words = shlex.split(given) if isinstance(given, str) else list(given)
    if not words:
        raise EntryError(f"{where}: the command is empty")
    taken = set(PLACEHOLDERS) & set(program.options)
    if taken:
        raise EntryError(f"{where}: an option cannot be called {', '.join(sorted(taken))}")
    words = _absolute(words, base)
    used = {name for word in words for name in _PLACE.findall(word)}
    valid = (*PLACEHOLDERS, *program.options)
    for name in sorted(used - set(valid)):
        raise EntryError(
            f"{where}: unknown placeholder {{{name}}}; there are"
            f" {', '.join(f'{{{each}}}' for each in valid)}"
        )
    if not used & set(PLACEHOLDERS):
        words += [f"{{{name}}}" for name in ALWAYS]
    digest = _digest(program, words, base, where)
    named = f"{program.name} {program.version} {digest}" if program.version else digest
    return (
        Method(
            name=program.name,
            run=Executable(program.name, tuple(words)),
            problems=tuple(program.problems),
            kind=program.kind,
            source=program.source,
            options={n: Option(n, default) for n, default in program.options.items()},
            summary=program.summary or "a program",
            mixtures=True,  # it reads the rules, and says itself what it cannot take
        ),
        named,
    )


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text.removeprefix(PREFIX))
    except ValueError as error:
        raise EntryError(f"{text}: {error}") from None


def _described(path: Path) -> Program:
    try:
        program = msgspec.toml.decode(files.contents(path), type=Program)
    except OSError as error:
        raise EntryError(f"{path}: cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:  # validation errors are some of them
        raise EntryError(f"{path}: {error}") from None
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", program.name):
        raise EntryError(f"{path}: name {program.name!r}: lower case, digits and dashes only")
    for problem in program.problems or [""]:
        if problem not in RULES:
            valid = ", ".join(RULES)
            raise EntryError(f"{path}: unknown problem {problem!r}; the problems are {valid}")
    return program


def _name_of(words: list[str], where: str) -> str:
    """The program's own name; that of its first file where the PATH has one called the same."""
    own = words[0] if words else ""
    if shutil.which(Path(own).name):  # python3, java: what matters is what it runs
        own = next((word for word in words[1:] if Path(word).is_file()), own)
    name = re.sub(r"[^a-z0-9]+", "-", Path(own).stem.lower()).strip("-")
    if not name:
        raise EntryError(
            f"{where}: has no name; write exec:./program {{instance}}, or a .toml file"
        )
    return name


def _absolute(words: list[str], base: Path) -> list[str]:
    """Words that name a file with its path; a program of the PATH stays as it is."""
    result = []
    for i, word in enumerate(words):
        path = base / Path(word).expanduser()
        on_path = i == 0 and os.sep not in word
        result.append(str(path.resolve()) if not on_path and path.is_file() else word)
    return result


def _digest(program: Program, words: list[str], base: Path, where: str) -> str:
    """SHA-256 over the command with every file in it replaced by its content."""
    first = shutil.which(words[0])
    if first is None:
        why = "is not executable" if Path(words[0]).is_file() else "is no file and not on the PATH"
        raise EntryError(f"{where}: the program {words[0]!r} {why}")
    parts: list[object] = [program.version, program.problems, program.options]
    for word in [first, *words[1:], *(str(base / each) for each in program.files)]:
        path = Path(word)
        is_file = os.sep in word and path.is_file()
        parts.append(hashlib.sha256(path.read_bytes()).hexdigest() if is_file else word)
    for each in program.files:
        if not (base / each).is_file():
            raise EntryError(f"{where}: no file {each!r} - at `$.files`")
    return hashlib.sha256(files.encode(parts)).hexdigest()


def _written(instance: Instance, folder: Path) -> Path:
    path = folder / "instance.json"
    path.write_bytes(files.encode(to_bundle(instance)))
    return path


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ended(name: str, code: int, answers: int) -> None:
    """Let the run end as its program did; a status after an answer is only noted.

    Raises
    ------
    RuntimeError
        If the program failed before it gave an answer.
    """
    if code == 0:
        return
    if code < 0 and "PLACEBENCH_SUPERVISOR" in os.environ:
        # The row is to name the program's signal: the process of the run goes the same way.
        print(f"[exec] {name} was ended by signal {-code}", flush=True)
        faulthandler.disable()
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    said = f"signal {-code}" if code < 0 else f"exit status {code}"
    if answers == 0:
        raise RuntimeError(f"{name} left with {said} before it gave an answer")
    print(f"[exec] {name} left with {said} after {answers} answers", flush=True)
