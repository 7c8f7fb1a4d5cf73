"""Published figures against repeated ones."""

import re

import pytest

from benchmarks.studies import PAGES, STUDIES, Study, cells, worse

STUDY = Study("none", {"error": 1.0, "in interval": -5.0}, rows="so.*")


@pytest.mark.parametrize(
    ("row", "error", "inside", "expected"),
    [
        ("sort", 5.4, 86.0, []),
        ("sort", 5.6, 84.0, ["error", "in interval"]),
        ("sort", 1.0, 100.0, []),
        ("join", 99.0, 0.0, []),
    ],
)
def test_only_figures_that_are_worse_than_allowed_fail(row, error, inside, expected):
    published = {(row, "error"): 4.5, (row, "in interval"): 90.0}
    measured = {(row, "error"): error, (row, "in interval"): inside}
    assert [column for _, column, _, _ in worse(STUDY, published, measured)] == expected


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_has_published_figures_to_compare(name):
    study = STUDIES[name]
    published = cells((PAGES / f"{name}.md").read_text(encoding="utf-8"), study.keys)
    nothing = dict.fromkeys(published, float("inf"))
    assert list(worse(study, published, nothing))


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_a_study_begins_with_a_conclusion_whose_figures_it_has(page):
    """A rerun that changes its tables leaves no old figure in the first sentence."""
    _, *parts = page.read_text(encoding="utf-8").split("\n\n", 2)
    concluded, measured = (set(re.findall(r"\d[\d.,]*\d", part)) for part in parts)
    assert set() < concluded <= measured
