"""Answers stay what they are: whoever changes one says so, by ``python -m tests.golden``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import answer, names
from tests.golden.stored import stored

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return stored()


def test_each_case_is_stored(expected: dict[str, Any]) -> None:
    assert sorted(expected) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_the_answer_is_the_same(name: str, expected: dict[str, Any], tmp_path: Path) -> None:
    assert answer(name, tmp_path) == expected[name]
