"""The registry of plug-ins, and plug-ins of other installed packages."""

import sys

import numpy as np
import pytest

from predict_graph.cli import main
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.iterations import draw_sample
from predict_graph.plugins import Registry

GROUP = "predict_graph.test_shapes"


def shapes(**more):
    return Registry("shape", GROUP, {"map": "builtins:dict", "row": "builtins:list", **more})


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a tiny distribution with entry points."""

    def install(name, module, source, points):
        package = tmp_path / name
        package.mkdir()
        (package / f"{module}.py").write_text(source)
        info = package / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(str(package))

    yield install
    for module in [name for name in sys.modules if name.startswith("plugged_")]:
        del sys.modules[module]


@pytest.mark.parametrize("name", ["nothing", "", "MAP", " map"])
def test_an_unknown_name_is_told_with_the_legal_ones(name):
    with pytest.raises(RequestError) as caught:
        shapes().get(name)
    hint = " did you mean map?" if "map" in name.lower() else ""
    assert str(caught.value) == f"unknown shape {name!r};{hint} accepted: map, row"


def test_registered_and_forgotten():
    registry = shapes()
    assert registry.register("cube")(int) is int
    assert registry.get("cube") is int
    assert registry.origin("cube") == "registered"
    registry.unregister("cube")
    with pytest.raises(RequestError, match="unknown shape 'cube'"):
        registry.get("cube")


@pytest.mark.parametrize("name", ["map", "cube"])
def test_a_name_is_taken_once(name):
    registry = shapes()
    registry.register("cube")(int)
    with pytest.raises(RequestError, match=f"the shape '{name}' is already registered"):
        registry.register(name)(float)
    assert registry.get("cube") is int


@pytest.mark.parametrize("reference", ["no_such_module_here:thing", "builtins:no_such_name"])
def test_what_cannot_be_loaded_says_why_and_disturbs_no_other(reference):
    registry = shapes(broken=reference)
    assert "broken" in registry.names()
    with pytest.raises(RequestError, match=f"the shape 'broken' .*{reference}.* cannot be loaded"):
        registry.get("broken")
    assert registry.get("map") is dict


def test_an_alias_is_taken_too():
    registry = Registry("shape", GROUP, {"map": "builtins:dict"}, {"dictionary": "map"})
    with pytest.raises(RequestError, match="the shape 'dictionary' is already registered"):
        registry.register("dictionary")(int)


DECORATED = """
from predict_graph.plugins import Registry
import test_shapes_of_plugged

@test_shapes_of_plugged.registry.register("star")
class Star: ...
"""


def test_a_module_may_register_what_its_own_entry_point_names(installed, monkeypatch):
    registry = shapes()
    home = type(sys)("test_shapes_of_plugged")
    home.registry = registry
    monkeypatch.setitem(sys.modules, home.__name__, home)
    points = f"[{GROUP}]\nstar = plugged_three:Star\n"
    installed("plugged-three", "plugged_three", DECORATED, points)
    assert registry.names() == ["map", "row", "star"]
    assert registry.get("star").__name__ == "Star"
    assert registry.get("star") is registry.get("star")
    assert registry.origin("star") == "plugged_three:Star"
    with pytest.raises(RequestError, match="the shape 'star' is already registered"):
        registry.register("star")(int)


def test_nobody_else_may_register_what_an_entry_point_names(installed):
    installed(
        "plugged-four", "plugged_four", "class S: ...\n", f"[{GROUP}]\nstar = plugged_four:S\n"
    )
    with pytest.raises(RequestError, match="the shape 'star' is already registered"):
        shapes().register("star")(int)


def test_listing_imports_nothing(installed):
    installed(
        "plugged-one",
        "plugged_one",
        "raise RuntimeError('imported')\n",
        f"[{GROUP}]\nstar = plugged_one:Star\n",
    )
    assert shapes().names() == ["map", "row", "star"]
    assert "plugged_one" not in sys.modules


def test_plug_ins_of_another_package(installed):
    installed(
        "plugged-two",
        "plugged_two",
        "class Star:\n    class Inner:\n        pass\n",
        f"[{GROUP}]\nstar = plugged_two:Star\ninner = plugged_two:Star.Inner\n",
    )
    registry = shapes()
    assert registry.names() == ["map", "row", "inner", "star"]
    assert registry.get("star").__name__ == "Star"
    assert registry.get("inner").__name__ == "Inner"
    assert registry.origin("star") == "plugged_two:Star"


def test_a_broken_package_disturbs_no_other(installed):
    installed(
        "plugged-bad",
        "plugged_bad",
        "raise RuntimeError('made badly')\n",
        f"[{GROUP}]\nbad = plugged_bad:Bad\n",
    )
    installed(
        "plugged-good",
        "plugged_good",
        "class Good: ...\n",
        f"[{GROUP}]\ngood = plugged_good:Good\n",
    )
    registry = shapes()
    assert registry.get("good").__name__ == "Good"
    with pytest.raises(
        RequestError, match=r"the shape 'bad' .* cannot be loaded: RuntimeError: made badly"
    ):
        registry.get("bad")


def test_another_package_cannot_replace_a_built_in(installed):
    installed(
        "plugged-thief", "plugged_thief", "class T: ...\n", f"[{GROUP}]\nmap = plugged_thief:T\n"
    )
    registry = shapes()
    assert registry.get("map") is dict
    assert registry.names().count("map") == 1


SAMPLER = '''
from samplers.uniform import UniformVertices


class Plugged(UniformVertices):
    """Vertices drawn as another package likes."""

    name = "plugged"
'''


@pytest.fixture
def samplers_of_others(installed):
    installed(
        "plugged-sampler",
        "plugged_sampler",
        SAMPLER,
        "[predict_graph.samplers]\nplugged = plugged_sampler:Plugged\nsick = plugged_away:Sick\n",
    )


def test_the_program_lists_plug_ins_of_others_and_broken_ones_too(samplers_of_others, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["list", "samplers"])
    assert exit_.value.code == 0
    words = capsys.readouterr().out.split()
    assert {"brj", "plugged", "plugged_sampler:Plugged", "sick"} <= set(words)


def test_a_sampler_of_another_package_draws(samplers_of_others):
    graph = check_graph("barabasi-albert:n=300,m=3,seed=1")
    sample = draw_sample(graph, "plugged", 0.5, np.random.default_rng(1))
    assert sample.graph.vertices == 150
    assert sample.sampler == "plugged"


def test_asking_for_a_broken_sampler_is_a_wrong_request(samplers_of_others, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["predict", "pagerank", "star:n=9", "--sampler", "sick", "--history", "none"])
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: the sampler 'sick' (plugged_away:Sick) cannot be loaded")
    assert error.count("\n") == 1
