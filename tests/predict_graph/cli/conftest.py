from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from predict_graph.cli import main
from tests.warm import WarmPython


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.err.splitlines()

    def is_refused(self, *parts: str, status: int = 2) -> None:
        """Check that the program said why not, in one line."""
        assert self.status == status, self
        assert len(self.lines) == 1, self.err
        assert self.err.startswith("error: ")
        assert "internal error" not in self.err
        for part in parts:
            assert part in self.err


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDICT_GRAPH_HISTORY", "none")
    monkeypatch.setenv("COLUMNS", "200")
    # A slow machine would write lines of progress where errors are counted.
    monkeypatch.setattr("predict_graph.clock.display.PATIENCE", 3600.0)


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run the program in this process."""

    def call(*arguments: Any) -> Result:
        with pytest.raises(SystemExit) as exit_:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(int(exit_.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def process(warm_python: WarmPython) -> Callable[..., Result]:
    """Run the program in a process of its own, which need not import all again."""

    def call(*arguments: Any, **options: Any) -> Result:
        done = warm_python.run(["-m", "predict_graph", *arguments], **options)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def new_process() -> Callable[..., Result]:
    """Run the program as a shell does: in a Python that starts with it."""

    def call(*arguments: Any, **options: Any) -> Result:
        command = [sys.executable, "-m", "predict_graph", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=600, check=False, **options
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return call
