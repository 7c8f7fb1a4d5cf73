"""Size and vocabulary of the code: each figure may fall, and none may rise."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CAPS = {
    "samplers": 720,
    "costmodels": 2_030,
    "predict_graph": 26_592,
    "tests": 13_000,
    "benchmarks": 4_996,
}
"""Lines of code; on the way to 1,700, 3,300, 22,000, 13,000 and 5,000."""
LIBRARY = ("samplers", "costmodels", "predict_graph")
WORDS_OF_DOCS = 40_097
LANGUAGE = re.compile(
    r"\b(told|tells|foretold|foretell|witness(?:es)?|purse|lessons?|rungs?|asking took|off by|"
    r"of which|may come again|a person|judgement|a choice)\b",
    re.IGNORECASE,
)
"""Words that only this project would use."""


def code_lines(path):
    """Return the lines of a module without docstrings, comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    documented: set[int] = set()
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            documented |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    kept = (line for at, line in enumerate(text.split("\n"), 1) if at not in documented)
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in kept)


def pages():
    """Return the pages that people write; the reference is made from the code."""
    made = ("docs/_build/", "docs/reference/commands")
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [path for path in found if not path.relative_to(ROOT).as_posix().startswith(made)]


@pytest.mark.slow
@pytest.mark.parametrize("folder", CAPS)
def test_no_folder_grows(folder):
    total = sum(code_lines(path) for path in (ROOT / folder).rglob("*.py"))
    assert total <= CAPS[folder]
    assert total > 0.95 * CAPS[folder], "the cap can be lowered"


def test_the_docs_do_not_grow():
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in pages()) <= WORDS_OF_DOCS


def test_the_words_are_those_of_the_field():
    sources = [path for name in LIBRARY for path in (ROOT / name).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in [*sources, *pages()]
        for word in LANGUAGE.findall(path.read_text(encoding="utf-8"))
    ]
    assert not found
