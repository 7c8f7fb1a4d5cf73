import json

import pytest

from predict_graph.algorithms import ALGORITHMS, PageRank, check_algorithm
from predict_graph.errors import RequestError


def test_the_threshold_is_epsilon_per_vertex_or_the_tolerance():
    assert PageRank().threshold(1000) == 1e-6
    assert PageRank(epsilon=0.01).threshold(1000) == 1e-5
    assert PageRank(tolerance=1e-7).threshold(1000) == 1e-7


def test_epsilon_and_tolerance_exclude_each_other():
    with pytest.raises(RequestError, match="epsilon and tolerance are both given"):
        PageRank(epsilon=0.01, tolerance=1e-6)


def test_text_of_a_command_line_gives_the_same_algorithm():
    text = {"damping": "0.9", "epsilon": "0.01", "dangling": "drop", "max_iterations": "7"}
    algorithm = check_algorithm("pagerank", text)
    assert algorithm.to_dict() == {
        "damping": 0.9,
        "epsilon": 0.01,
        "dangling": "drop",
        "max_iterations": 7,
    }
    assert algorithm.max_iterations == 7


def test_serialized_parameters_build_the_algorithm_again():
    algorithm = PageRank(damping=0.7, tolerance=1e-5)
    again = PageRank(**json.loads(json.dumps(algorithm.to_dict())))
    assert again.to_dict() == algorithm.to_dict()
    assert eval(repr(algorithm)).to_dict() == algorithm.to_dict()


def test_check_algorithm_takes_a_name_or_an_algorithm():
    algorithm = PageRank()
    assert check_algorithm(algorithm) is algorithm
    assert "pagerank" in ALGORITHMS.names()
    with pytest.raises(RequestError, match=r"unknown algorithm 'pagerang'.*pagerank"):
        check_algorithm("pagerang")
    with pytest.raises(RequestError, match="algorithm that has its own"):
        check_algorithm(algorithm, {"damping": 0.5})
    with pytest.raises(RequestError, match="algorithm is 3"):
        check_algorithm(3)
