"""Answers stay what they are: whoever changes one says so, by ``python -m tests.golden``."""

import pytest

from tests.golden.cases import answer, names
from tests.golden.stored import stored

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def expected():
    return stored()


def test_each_case_is_stored(expected):
    assert sorted(expected) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_the_answer_is_the_same(name, expected, tmp_path):
    assert answer(name, tmp_path) == expected[name]
