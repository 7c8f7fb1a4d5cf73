"""Run what README and the pages of docs show, and compare or renew the outputs.

    python -m benchmarks.pages [--update] [PAGE…]

A page is read from top to bottom in an empty folder; each block sees the files of those before it.

| block | what is done |
|---|---|
| lines with ``$`` before them | run by bash; what follows is their output |
| ``python`` | run, all of a page in one process |
| ``text`` right after ``python`` | its output |
| ``python`` that begins with ``# NAME.py`` | written to that file |
| any, after ``<!-- file: NAME -->`` | written to that file |
| any, after ``<!-- not run: WHY -->`` | left alone |
| all of a page with ``<!-- not run on this page: WHY -->`` | left alone |

Outputs are compared by shape: numbers with their units are all alike, blanks, ends of lines, what
is said of other work on the machine and the marks of a choice or a miss do not count, and ``…``
stands for anything. Of a command without output only the exit status counts. ``--update`` writes
outputs anew and keeps what is left out.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
WIDTH = "88"  # of the terminal, in characters: what a page shows without scrolling
SECONDS = 240  # of one block

_NOTE = re.compile(r"<!--\s*(file|not run):\s*(.*?)\s*-->", re.S)
_WHOLE = re.compile(r"<!--\s*(not run on this page):\s*(.*?)\s*-->", re.S)
_NAMED = re.compile(r"# ([\w.-]+\.py)\n")
_UNIT = r"(?:[kMGTP]?i?B|[mµn]?s|min|h|d|years?|months?|weeks?|days?|hours?|minutes?|seconds?|s²|%)"
_NUMBER = re.compile(rf"[+\-−]?\b\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?: ?{_UNIT}\b|%)?")
_BUSY = re.compile(
    r",\s+on a machine\s+as busy as now|"
    r"warning: while predicting.*?which\s+the\s+interval\s+includes"
)
_NOT_A_NUMBER = re.compile(r"\b(?:nan|inf)\b")


@dataclass
class Block:
    """A block of code of a page, and what is to be done with it."""

    kind: str  # console, python, text, file, other
    text: str
    lines: tuple[int, int]  # of the page, from the first to behind the last, fences excluded
    indent: str = ""
    name: str = ""  # of the file
    why: str = ""  # it is not run

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each command of a console block with the lines of its output."""
        for part in re.split(r"^\$ ", self.text, flags=re.M)[1:]:
            command = re.match(r"(?:.*\\\n)*.*", part)[0]
            yield command, part[len(command) + 1 :].splitlines()


class Different(AssertionError):  # noqa: N818
    """What a page shows is not what comes out."""

    def __init__(
        self, page: Path, block: Block, command: str, shown: list[str], came: list[str], errors: str
    ) -> None:
        old, new = (list(map(_shape, filter(str.strip, text))) for text in (shown, came))
        lines = difflib.unified_diff(old, new, "shown", "came out", lineterm="", n=1)
        first = f"{page.relative_to(ROOT)}:{block.lines[0]}: $ {command}"
        last = f"To write outputs anew: python -m benchmarks.pages --update {page}"
        super().__init__("\n".join([first, *lines, errors, last]))


def pages() -> list[Path]:
    """Return README and all pages of docs but studies, and what is made from code."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    skipped = [ROOT / "docs" / name for name in ("studies", "reference", "_build")]
    return [page for page in found if not any(page.is_relative_to(folder) for folder in skipped)]


def read_blocks(text: str) -> list[Block]:
    """Return the blocks of code of a page, each with what the comment before it says."""
    found: list[Block] = []
    note = None
    whole = _WHOLE.search(text)
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "html_block":
            note = _NOTE.match(token.content)
        elif token.type == "fence":
            found.append(_block(token, whole or note, text))
            note = None
        elif token.type.endswith("_open"):
            note = None
    for before, after in pairwise(found):
        if after.kind == "text" and before.kind != "python":
            after.kind = "other"
    return found


def same_shape(shown: list[str], came: list[str]) -> bool:
    """Return whether two outputs differ in nothing but numbers, blanks, and what ``…`` stands for.

    >>> same_shape(["took 1.5 s, …", " a  3"], ["took 12 ms, +4%: fine", "a 1,200"])
    True
    >>> same_shape(["took 1.5 s"], ["needs 1.5 s"])
    False
    """
    shape = re.sub(r"(?:\\ )?…(?:\\ )?", ".*?", re.escape(_shape(" ".join(shown))))
    return re.fullmatch(shape, _shape(_BUSY.sub("", " ".join(came))), re.S) is not None


def renewed(shown: list[str], came: list[str]) -> list[str]:
    """Return the lines of ``came``, but ``…`` where ``shown`` left some, or the rest of one, out.

    >>> renewed(["a 1", "…", "z 1, …"], ["a 2", "b", "c", "z 3, 4"])
    ['a 2', '…', 'z 3, …']
    """
    cut = list(came)
    for line in shown:
        if line.endswith("…") and line.strip() != "…":
            begins = re.compile(_beginning(line[:-1]))
            for number, other in enumerate(cut):
                if (found := begins.match(other)) and not other.endswith("…"):
                    cut[number] = found[0] + "…"
                    break
    shapes = [list(map(_shape, lines)) for lines in (shown, cut)]
    lines: list[str] = []
    for what, i, k, j, m in difflib.SequenceMatcher(None, *shapes, autojunk=False).get_opcodes():
        left_out = [line.strip() for line in shown[i:k] if line.strip()] == ["…"]
        lines.extend(["…"] if what != "equal" and left_out else cut[j:m])
    return "\n".join(lines).strip("\n").splitlines()


def _beginning(line: str) -> str:
    """Return a pattern of lines that begin like this one, numbers aside."""
    literal = [re.escape(part).replace(r"\ ", r"\s*") for part in _NUMBER.split(line)]
    return re.sub(r"(?:\\s\*)+", r"\\s*", f"(?:{_NUMBER.pattern})".join(literal))


class _Session:
    """An empty folder, and one Python process, in which the blocks of a page are run."""

    def __init__(self, folder: Path) -> None:
        place = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
        plain = {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
        history = {"PREDICT_GRAPH_HISTORY": str(folder / ".history.sqlite")}
        environment = {**os.environ, **place, **plain, **history, "MPLBACKEND": "agg"}
        self.folder = folder
        self._settings: dict[str, Any] = {"cwd": folder, "env": environment, "text": True}
        self._python = subprocess.Popen(
            [sys.executable, "-c", _INTERPRETER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **self._settings,
        )

    def shell(self, command: str) -> tuple[list[str], int, str]:
        """Run a command; return its output, its exit status, and what it said besides."""
        done = subprocess.run(
            ["bash", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
            **self._settings,
        )
        # Progress comes before an error, on a slow machine.
        error = done.stderr[max(0, done.stderr.find("error:")) :] if done.returncode else ""
        output = done.stdout + error
        return [line.rstrip() for line in output.splitlines()], done.returncode, done.stderr

    def python(self, code: str) -> tuple[list[str], str]:
        """Run code after that of earlier calls; return what it printed, and its traceback."""
        self._python.stdin.write(json.dumps(code) + "\n")
        self._python.stdin.flush()
        answer = self._python.stdout.readline()
        if not answer:
            return [], "the interpreter ended"
        printed, error = json.loads(answer)
        return [line.rstrip() for line in printed.splitlines()], error

    def close(self) -> None:
        """End the interpreter."""
        self._python.communicate()


_INTERPRETER = """
import contextlib, io, json, sys, traceback
names, answers = {"__name__": "__main__"}, sys.stdout
for line in sys.stdin:
    printed, error = io.StringIO(), ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(json.loads(line), "<page>", "exec"), names)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([printed.getvalue(), error]), file=answers, flush=True)
"""


def check_page(page: Path) -> int:
    """Run the blocks of a page; return how many commands and cells were run.

    Raises
    ------
    Different
        If something else comes out than is shown.
    """
    return len(list(_outputs(page, compare=True)))


def update_page(page: Path) -> int:
    """Write the outputs of a page anew; return how many commands and cells were run."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found = [*_outputs(page, compare=False)]
    for block, text in reversed(found):
        if block is not None:
            start, end = block.lines
            lines[start:end] = [(block.indent + line).rstrip() for line in text]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(found)


def _outputs(page: Path, compare: bool) -> Iterator[tuple[Block | None, list[str]]]:
    """Yield for each thing that is run the block that shows it, if any, with its lines anew."""
    blocks = read_blocks(page.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, closing(_Session(Path(folder))) as session:
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            if block.kind == "file":
                (session.folder / block.name).write_text(block.text, encoding="utf-8")
            elif block.kind == "console":
                yield block, _run_console(page, block, session, compare)
            elif block.kind == "python":
                came, error = session.python(block.text)
                command = block.text.splitlines()[0] + " …"
                shown = after.text.splitlines() if after and after.kind == "text" else []
                if error or (shown and compare and not same_shape(shown, came)):
                    raise Different(page, block, command, shown, came, error)
                yield (after, renewed(shown, came)) if shown else (None, [])


def _run_console(page: Path, block: Block, session: _Session, compare: bool) -> list[str]:
    text: list[str] = []
    for command, shown in block.commands():
        came, status, errors = session.shell(command)
        silent = not any(map(str.strip, shown))  # only that it works
        refused = any(line.startswith("error:") for line in shown)
        wrong = compare and not silent and not same_shape(shown, came)
        if wrong or refused != bool(status):
            raise Different(page, block, command, shown, came, errors)
        between = [""] if shown and not shown[-1].strip() else []
        first = [""] if shown and not shown[0].strip() else []
        lines = [] if silent else [*first, *renewed(shown, came), *between]
        text += ["$ " + command, *lines]
    return "\n".join(text).rstrip().splitlines()


def _block(token: object, note: re.Match[str] | None, page: str) -> Block:
    text, (start, end) = token.content, token.map  # type: ignore[attr-defined]
    language = (token.info.split() or [""])[0]  # type: ignore[attr-defined]
    first = page.splitlines()[start]
    indent = first[: len(first) - len(first.lstrip())]
    block = Block("other", text, (start + 1, end - 1), indent)
    if note is not None and note[1].startswith("not run"):
        block.why = note[2]
        return block
    named = _NAMED.match(text) if language == "python" else None
    if note is not None or named is not None:
        block.kind, block.name = "file", (note[2] if note is not None else named[1])  # type: ignore[index]
    elif text.startswith("$ ") and language in ("", "console"):
        block.kind = "console"
    elif language in ("python", "text"):
        block.kind = language
    return block


def _shape(text: str) -> str:
    # A time that differs from run to run may be too low once, and too high once.
    text = " ".join(re.sub(r"[─━]+", "─", text).split()).replace(" low;", " high;")
    return _NOT_A_NUMBER.sub("#", _NUMBER.sub("#", text)).replace(" *", "").replace(" (missed)", "")


def main(arguments: list[str] | None = None) -> None:
    """Check pages, or write their outputs anew."""
    parser = argparse.ArgumentParser(description="Check what pages show, or write it anew.")
    parser.add_argument("page", nargs="*", type=Path)
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args(arguments)
    wrong = 0
    for page in [path.resolve() for path in asked.page] or pages():
        name = page.relative_to(ROOT)
        try:
            done = update_page(page) if asked.update else check_page(page)
            print(f"{name}: {done} blocks", flush=True)
        except Different as error:
            wrong += 1
            print(error, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
