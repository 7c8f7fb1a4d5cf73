"""Every named number states its source: a study, a paper, a definition, or what it limits."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("samplers", "costmodels", "predict_graph")
MODULES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]

# A page or a program (whether it exists is asked in test_citations.py), a place in a paper, a
# year; what it limits or trades off; or words that say that nothing was measured.
SOURCE = re.compile(
    r"\b(?:docs|benchmarks|tests)/[\w/.-]+\w"
    r"|[Ss]ection \d|[Ee]quation \d|[Tt]able \d|\((?:[\w .,&]+, )?(?:19|20)\d\d\)"
    r"|judgement|\ba (?:choice|baseline)\b|not tuned|\b(?:measured|calibrated)\b"
    r"|\b(?:[Ll]imits|[Bb]ounds|[Tt]rades off)\b"
    r"|by (?:definition|default of)|\bas (?:above|below|those|the two|for those|for all)\b"
    r"|\bsee below\b|[Kk]nuth",
    re.IGNORECASE,
)
# Not the names of places or kinds, such as `A, B = 0, 1`.
CONSTANT = re.compile(
    r"^ {0,4}(_?[A-Z][A-Z0-9_]*(?:, _?[A-Z][A-Z0-9_]*)*)(?:: [^=\n]+)? = "
    r"(?![\d_]+(?:, [\d_]+)+(?:  #.*)?$)[-(\[{]*\d",
    re.MULTILINE,
)


def without_source(source):
    """Return the constants of a module in whose paragraph nothing says where they come from."""
    return [
        found[1]
        for paragraph in source.split("\n\n")
        for found in CONSTANT.finditer(paragraph)
        if not SOURCE.search(paragraph)
    ]


def test_every_constant_says_where_it_comes_from():
    wrong = {path: without_source(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {path: names for path, names in wrong.items() if names} == {}


BARE = [
    "_STD = 0.3",
    "_STD = 0.3  # of the logarithm",
    "LEVELS = (1, 2)",
    "_A, _B = 0.3, 2.0",
    "# Set in docs/studies/overhead.md.\n_STD = 0.3\n\n_OTHER = 0.4",
    "class Model:\n    SHARE: float = 1 / 9",
]


@pytest.mark.parametrize("bare", BARE)
def test_a_constant_without_a_source_would_be_found(bare):
    assert without_source(bare)
