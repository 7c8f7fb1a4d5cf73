"""Published figures against repeated ones."""

import re

import pytest

from benchmarks.studies import PAGES, STUDIES, cells, worse


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_has_published_figures_to_compare(name):
    study = STUDIES[name]
    published = cells((PAGES / f"{name}.md").read_text(encoding="utf-8"), study.keys)
    assert list(worse(study, published, dict.fromkeys(published, float("inf"))))


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_a_study_begins_with_a_conclusion_whose_figures_it_has(page):
    """A rerun that changes its tables leaves no old figure in the first sentence."""
    _, *parts = page.read_text(encoding="utf-8").split("\n\n", 2)
    concluded, measured = (set(re.findall(r"\d[\d.,]*\d", part)) for part in parts)
    assert set() < concluded <= measured
