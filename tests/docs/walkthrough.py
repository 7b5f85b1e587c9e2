"""A page with steps, walked as its reader would: commands, edits and files in their order.

Blocks of the kind `console` are commands, each with lines that it is shown to print; what ends
otherwise than with 0 says so (`# ends with 5`). A comment before a block says what is done with
it: `<!-- edit: FILE -->` a diff, `<!-- write: FILE -->` a whole file, `<!-- append: FILE -->` its
last lines. Blocks of other kinds are for reading only.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from planner.cli import main

_BLOCK = re.compile(
    r"(?:^<!-- (?P<does>edit|write|append): (?P<file>\S+) -->\n)?"
    r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_ENDS = re.compile(r"\s+# ends with (\d+)$")
_SHELL = re.compile(r"[|<>$;&*]")
"""What only a shell understands."""
SECONDS = 300


@dataclass(frozen=True)
class Command:
    """One command, the code it ends with, and the lines it is shown to print."""

    text: str
    code: int
    shown: tuple[str, ...]


@dataclass(frozen=True)
class FileStep:
    """What is done with a file."""

    does: str
    file: str
    body: str

    @property
    def change(self) -> tuple[str, str]:
        """The lines that an edit takes away, and those that take their place."""
        lines = self.body.splitlines()
        old, new = ("\n".join(x[1:] for x in lines if x[0] == sign) for sign in "-+")
        return old, new


def steps(page: Path) -> Iterator[Command | FileStep]:
    """What the page has its reader do, in order."""
    for block in _BLOCK.finditer(page.read_text()):
        if block["does"]:
            yield FileStep(block["does"], block["file"], block["body"])
        elif block["kind"] == "console":
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                text, *shown = part.rstrip("\n").splitlines()
                ends = _ENDS.search(text)
                code = int(ends[1]) if ends else 0
                yield Command(_ENDS.sub("", text), code, tuple(shown))


@dataclass
class Walk:
    """A project's folder, the environment of its shell, and what the page's capitals stand for.

    ``stand_ins`` gives the text of a word such as DIGEST when it is needed; ``extra`` are
    options that are added to a command, such as the time that it is run at.
    """

    folder: Path
    env: Mapping[str, str]
    stand_ins: Mapping[str, Callable[[Path], str]] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)

    def walk(self, page: Path) -> int:
        """Do every step of the page; return how many there were."""
        found = list(steps(page))
        for step in found:
            if isinstance(step, FileStep):
                self._write(step)
            else:
                self._run(step)
        return len(found)

    def _filled(self, text: str) -> str:
        for word, value in self.stand_ins.items():
            if re.search(rf"\b{word}\b", text):
                text = re.sub(rf"\b{word}\b", lambda _, v=value: v(self.folder), text)
        return text

    def _write(self, step: FileStep) -> None:
        path, body = self.folder / step.file, self._filled(step.body)
        if step.does == "write":
            path.write_text(body)
        elif step.does == "append":
            path.write_text(path.read_text() + body)
        else:
            old, new = step.change
            text = path.read_text()
            assert text.count(old) == 1, (step.file, old)
            path.write_text(text.replace(old, new))

    def _run(self, step: Command) -> None:
        text = self._filled(step.text)
        for start, more in self.extra.items():
            if text.startswith(start) and more.split()[0] not in text:
                text += f" {more}"
        code, told = self._ours(text) if self._is_ours(text) else self._shell(text)
        assert code == step.code, (text, code, told)
        for line in step.shown:
            assert self._filled(line).strip() in told, (text, line, told)

    @staticmethod
    def _is_ours(text: str) -> bool:
        return text.startswith("llm-capacity ") and not _SHELL.search(text)

    @staticmethod
    def _ours(text: str) -> tuple[int, str]:
        """Run it in this process: the catalog is read once for all pages."""
        answer = CliRunner().invoke(main, shlex.split(text)[1:])
        return answer.exit_code, answer.output

    def _shell(self, text: str) -> tuple[int, str]:
        answer = subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            env=dict(self.env),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        return answer.returncode, answer.stdout + answer.stderr
