"""Answers stay what they are: whoever changes one says so, by ``python -m tests.golden``."""

import pytest

from tests.golden.cases import answer, names, stored

pytestmark = pytest.mark.slow
EXPECTED = stored()


def test_each_case_is_stored():
    assert sorted(EXPECTED) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_the_answer_is_the_same(name, tmp_path):
    assert answer(name, tmp_path) == EXPECTED[name]
