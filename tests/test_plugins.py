"""The registry of plug-ins, and plug-ins of other installed packages."""

import sys

import pytest

from predict_graph.errors import RequestError
from predict_graph.plugins import Registry
from tests.distributions import install

GROUP = "predict_graph.test_shapes"


def shapes(**more):
    return Registry("shape", GROUP, {"map": "builtins:dict", "row": "builtins:list", **more})


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a tiny distribution with entry points."""

    def installed(name, points, **modules):
        install(tmp_path / name, name, points, **modules)
        monkeypatch.syspath_prepend(str(tmp_path / name))

    yield installed
    for module in [name for name in sys.modules if name.startswith("plugged_")]:
        del sys.modules[module]


@pytest.mark.parametrize("reference", ["no_such_module_here:thing", "builtins:no_such_name"])
def test_what_cannot_be_loaded_says_why_and_disturbs_no_other(reference):
    registry = shapes(broken=reference)
    assert "broken" in registry.names()
    with pytest.raises(RequestError, match=f"the shape 'broken' .*{reference}.* cannot be loaded"):
        registry.get("broken")
    assert registry.get("map") is dict


def test_plug_ins_of_other_packages(installed):
    names = ["star = plugged_two:Star", "inner = plugged_two:Star.Inner", "map = plugged_two:Star"]
    source = "class Star:\n    class Inner: ...\n"
    installed("plugged-two", "\n".join([f"[{GROUP}]", *names, ""]), plugged_two=source)
    bad = "raise RuntimeError('made badly')\n"
    installed("plugged-bad", f"[{GROUP}]\nbad = plugged_bad:Bad\n", plugged_bad=bad)
    registry = shapes()
    assert registry.names() == ["map", "row", "bad", "inner", "star"]
    assert not {"plugged_two", "plugged_bad"} & set(sys.modules)  # listing imports nothing
    assert registry.get("map") is dict  # nobody replaces a built-in
    assert registry.get("star").__name__ == "Star"
    assert registry.get("inner").__name__ == "Inner"
    assert registry.origin("star") == "plugged_two:Star"
    with pytest.raises(RequestError, match=r"'bad' .* cannot be loaded: RuntimeError: made badly"):
        registry.get("bad")
    with pytest.raises(RequestError, match="the shape 'star' is already registered"):
        registry.register("star")(int)
