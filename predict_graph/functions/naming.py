"""Names of functions, the graph that a function takes, and its arguments."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from types import MethodDescriptorType, ModuleType
from typing import Any

from predict_graph.algorithms import SPARK_LIBRARIES
from predict_graph.algorithms.parameters import literal
from predict_graph.errors import RequestError, did_you_mean, unknown_name
from predict_graph.plugin_files import code_digest, content_text, file_module

TABLES = ("pandas", "polars")
FORMS = ("networkx", "igraph", "networkit", "scipy", "edges", *TABLES, "graph")
"""What a function may take as its graph: a graph of these libraries, a scipy sparse array, an array
of edges (two columns) or a table of them, or our own :class:`~predict_graph.graph.Graph`."""

_GRAPH_LIBRARIES = ("networkx", "igraph", "networkit")
LIBRARIES = (*_GRAPH_LIBRARIES, "scipy")
"""Libraries whose functions are public: the atlas knows them."""
_ANNOTATIONS = {
    **{library: library for library in LIBRARIES},
    **{r"\bnx\.": "networkx", r"\big\.": "igraph", r"\bnk\.": "networkit", "csr_": "scipy"},
    **{"predict_graph": "graph", "ndarray": "edges"},
    **{r"polars|\bpl\.": "polars", "DataFrame": "pandas", "^DataFrame": "polars"},  # of either
}
_HOMES = {
    "igraph": ("igraph.Graph", "igraph"),
    "networkx": ("networkx", *(f"networkx.algorithms.{x}" for x in ("community", "approximation"))),
    "scipy": ("scipy.sparse.csgraph", "scipy"),
}
_FORM_OF = {"scipy": "scipy", "sklearn": "scipy", "predict_graph": "graph"}

VERTEX_PARAMETERS = frozenset({"source", "target", "s", "t", "u", "v", "root", "node", "vid"})
"""Names of parameters whose value is a vertex of the graph, which a sample must then hold."""
VERTEX_LISTS = VERTEX_PARAMETERS | {
    *("sources", "targets", "nodes", "nbunch", "terminal_nodes", "vertices", "vids", "roots"),
    *("personalization", "nstart", "dangling"),
}
"""Those whose value may be several vertices: a list, a set, or the keys of a dictionary."""


@dataclass(frozen=True)
class GraphFunction:
    """A function over a graph, with the arguments after the graph.

    Parameters
    ----------
    call : callable
        Takes the graph, then the arguments.
    name : str
        ``library:function`` or ``file.py:function``.
    library : str
        Empty for a function of the user's own.
    form : str
        One of :data:`FORMS`.
    code : str
        Digest of the source, unless it is of a graph library: a changed function has another
        history.
    """

    call: Callable[..., Any]
    name: str
    library: str
    form: str
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""

    @cached_property
    def signature(self) -> inspect.Signature | None:
        """The signature, the graph's parameter first; None if it is unknown."""
        with contextlib.suppress(TypeError, ValueError):
            return signature_of(self.call)
        return None

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters, the graph's first; none if they are unknown."""
        return {} if self.signature is None else self.signature.parameters

    def __call__(self, graph: Any) -> Any:
        """Call the function on a graph of its library; run what a class makes, as of networkit."""
        found = self.call(graph, *self.positional, **self.keywords)
        return found.run() if isinstance(self.call, type) and hasattr(found, "run") else found

    @property
    def library_version(self) -> str:
        """That which is installed; empty for a function of the user's own."""
        return _version(self.library)

    @property
    def given(self) -> list[tuple[int | str, str, Any]]:
        """Place or keyword, name and value of each argument; a number names an unknown one."""
        known = self.parameters.values()
        names = [each.name for each in known if each.kind <= each.POSITIONAL_OR_KEYWORD][1:]
        names += map(str, range(len(names) + 1, len(self.positional) + 1))
        placed = ((place, names[place], value) for place, value in enumerate(self.positional))
        return [*placed, *((name, name, value) for name, value in self.keywords.items())]

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments as JSON may have them."""
        return {name: _plain(value) for _, name, value in self.given}

    def describe(self) -> dict[str, Any]:
        """Return name and arguments, as of an algorithm."""
        return {"name": self.name, "parameters": self.arguments}

    @property
    def engine(self) -> dict[str, Any]:
        """What runs it: Python, a library, and the graph that it takes."""
        library = " ".join(filter(None, (self.library, self.library_version)))
        return {"name": "python", "library": library or None, "graph_form": self.form}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()
    return value if isinstance(value, str | int | float | bool | None) else content_text(value)


def is_function(value: Any) -> bool:
    """Whether a value is or names a function rather than an algorithm.

    Examples
    --------
    >>> is_function("networkx:pagerank"), is_function("pagerank"), is_function(len)
    (True, False, True)
    >>> is_function("graphframes:pageRank"), is_function("networkx:")  # without its name
    (False, True)
    """
    if isinstance(value, str):
        module, colon, _ = value.rpartition(":")
        return bool(colon and module) and module not in SPARK_LIBRARIES
    return callable(value)


def check_function(
    value: str | Callable[..., Any],
    positional: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
    *,
    form: str | None = None,
    graph: Any = None,
    called: bool = True,
) -> GraphFunction:
    """Return the function that `value` is or names, with its arguments checked.

    Names are ``module:function`` (``igraph`` also finds methods of its graphs, ``networkit``
    classes that are run) or ``file.py:function``. The form of the graph is by default that of the
    library, of `graph`, or of the function's annotation. One that is not `called` may be of
    a library of the atlas that is not installed; its arguments then need their names.

    Raises
    ------
    RequestError
        If there is no such function, it takes no graph, or an argument does not fit.

    Examples
    --------
    >>> import networkx
    >>> given = partial(partial(networkx.betweenness_centrality), k=5)
    >>> found = check_function(given, keywords={"normalized": False})
    >>> found.name, found.keywords
    ('networkx:betweenness_centrality', {'k': 5, 'normalized': False})
    >>> names = "networkx:louvain_communities", "networkx.community:louvain_communities"
    >>> {check_function(name).call for name in names} == {networkx.community.louvain_communities}
    True
    >>> {check_function(name).name for name in names}
    {'networkx:louvain_communities'}
    >>> check_function("networkx.algorithms.approximation:diameter").name
    'networkx.algorithms.approximation.distance_measures:diameter'
    >>> check_function(networkx.approximation.diameter).name
    'networkx.algorithms.approximation.distance_measures:diameter'
    """
    if form is not None and form not in FORMS:
        raise unknown_name("form of a graph", form, FORMS)
    found, name, library = _named(value, called) if isinstance(value, str) else _given(value)
    while isinstance(part := found, partial) and not part.args:
        found, keywords = part.func, {**part.keywords, **(keywords or {})}
    own = library if library in _GRAPH_LIBRARIES else None  # accepts only its own graphs
    code = "" if library in LIBRARIES else code_digest(_inner(found))
    if isinstance(found, partial) and (code or library):
        code += content_text(found.args)
    form = form or own or _annotated(found, form_of(graph)) or form_of(graph, LIBRARIES)
    form = form or _FORM_OF.get(library) or _imported(found, name)
    given = tuple(positional), dict(keywords or {})
    function = GraphFunction(found, name, library, form, *given, code)
    if called:
        _check_installed(function.form)
    _check_signature(function)
    return function


def _check_installed(library: str) -> None:
    """Raise RequestError for a library of graphs or tables that is missing."""
    if library in (*LIBRARIES, *TABLES) and find_spec(library) is None:
        raise RequestError(f"{library} is not installed; install it with: pip install {library}")


def takes_seed(function: GraphFunction) -> bool:
    """Whether a function has the parameter `seed`, and no value was given for it."""
    return "seed" in function.parameters.keys() - {name for _, name, _ in function.given}


def with_seed(function: GraphFunction, seed: int | None) -> GraphFunction:
    """Return the function with a seed as its argument, if it takes one and has none.

    Examples
    --------
    >>> given = check_function("networkx:betweenness_centrality", (10, True, None, False, 42))
    >>> with_seed(given, 7) is given
    True
    """
    if seed is None or not takes_seed(function):
        return function
    return replace(function, keywords={**function.keywords, "seed": seed})


def on_backends(function: GraphFunction) -> list[GraphFunction]:
    """Return a function, and the same on each installed backend of networkx, unless one is given.

    Examples
    --------
    >>> on = check_function("networkx:pagerank", keywords={"backend": "networkx"})
    >>> on_backends(on) == [on]
    True
    """
    if "backend" in function.keywords:
        return [function]
    names = sorted(getattr(function.call, "backends", set()) - {"networkx", "predict_graph"})
    calls = [{**function.keywords, "backend": name} for name in names]
    return [function, *(replace(function, keywords=each) for each in calls)]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the parameters of a function, the graph's first.

    Raises
    ------
    TypeError, ValueError
        If they are unknown.

    Examples
    --------
    >>> import igraph
    >>> list(signature_of(igraph.Graph.girth).parameters)
    ['graph', 'return_shortest_circle']
    """
    signature = inspect.signature(function)
    if hasattr(function, "orig_func"):  # networkx takes any keyword beside, for its backends
        kept = [each for name, each in signature.parameters.items() if name != "backend_kwargs"]
        return signature.replace(parameters=kept)
    text = getattr(function, "__text_signature__", None) or ""
    if not isinstance(function, MethodDescriptorType) or text.startswith("($self"):
        return signature
    # igraph's methods in C do not list the graph that they are methods of.
    graph = inspect.Parameter("graph", inspect.Parameter.POSITIONAL_ONLY)
    return signature.replace(parameters=[graph, *signature.parameters.values()])


def unusual_arguments(function: GraphFunction) -> dict[str, Any]:
    """Return the arguments by name, but for those that are the defaults."""
    known, given = function.parameters.items(), function.arguments.items()
    usual = {name: repr(_plain(each.default)) for name, each in known}
    return {name: value for name, value in given if repr(value) != usual.get(name)}


def check_arguments(texts: Sequence[str] | None) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments of the command line: ``NAME=VALUE`` or ``VALUE``, Python literals.

    Raises
    ------
    RequestError
        If a name comes twice.

    Examples
    --------
    >>> check_arguments(["k=200", "normalized=False", "weight=weight", "3"])
    ([3], {'k': 200, 'normalized': False, 'weight': 'weight'})
    """
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            positional.append(literal(text))
        elif name.strip() in keywords:
            raise RequestError(f"the argument {name.strip()} is given twice")
        else:
            keywords[name.strip()] = literal(value.strip())
    return positional, keywords


def form_of(graph: Any, among: Sequence[str] = (*LIBRARIES, *TABLES, "numpy")) -> str | None:
    """Return the form of a graph or table of a library; None for text, our graphs and None."""
    bases = {base.__module__.partition(".")[0] for base in type(graph).__mro__}
    found = next((name for name in among if name in bases), None)
    return "edges" if found == "numpy" else found


_ACCEPTED = "accepted: module:function such as networkx:betweenness_centrality, or file.py:function"


def _named(text: str, called: bool) -> tuple[Any, str, str]:
    """Return a function, its public name, and its library; None for one that is not there."""
    place, _, name = text.rpartition(":")
    if not place:
        raise RequestError(f"{text!r} is no function; {_ACCEPTED}")
    if place.endswith(".py"):
        return _member([file_module(Path(place))], text), f"{Path(place).name}:{name}", ""
    library = place.partition(".")[0]
    if not called and library in LIBRARIES and find_spec(library) is None:
        public = f"{place}.{name}".removeprefix(f"{library}.").removeprefix("Graph.")
        return None, f"{library}:{public}", library
    _check_installed(library)
    try:
        homes = [_home(home) for home in _HOMES.get(place, (place,))]
    except Exception as error:
        reason = f"importing {place!r} raised {type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError) and error.name == library:
            reason = f"there is no module {library!r}"
        said = f"the function {text!r} cannot be loaded: {reason}"
        raise RequestError(f"{said}; {_ACCEPTED}") from error
    found = _member(homes, text)
    if not (_version(library) or library in _FORM_OF):  # of the user's own
        return found, text, ""
    public = f"{place}.{name}".removeprefix("igraph.") if library == "igraph" else name
    return found, _public(library, public, found), library


def _home(place: str) -> Any:
    """Return a module, or a class in one; an error while importing it is raised as it is."""
    try:
        return import_module(place)
    except ModuleNotFoundError as error:
        if error.name != place or "." not in place:
            raise
        return resolve_name(place)


def _public(library: str, name: str, found: Any) -> str:
    """Return the short name of a function of a library; its full one if the short is another's."""
    homes = [_home(home) for home in _HOMES.get(library, (library,))]
    names = [name.rpartition(".")[2], *(each for home in homes for each in dir(home))]
    shown = (each for each in names if not each.startswith("_"))
    public = (each for each in shown if any(_attribute(home, each) is found for home in homes))
    name = next(public, name)
    other = next(filter(None, (_attribute(home, name) for home in homes)), found)
    module = library if other is found else getattr(found, "__module__", library)
    return f"{module}:{name.removeprefix('Graph.')}"


def _member(homes: Sequence[Any], text: str) -> Any:
    """Return the function of a name in the first of its homes that has it."""
    place, _, name = text.rpartition(":")
    found = next(filter(None, (_attribute(home, name) for home in homes)), None)
    if found is None:
        parent, _, last = name.rpartition(".")
        owners = [_attribute(home, parent) or home for home in homes]
        names = {each for owner in owners for each in dir(owner) if not each.startswith("_")}
        near = did_you_mean(last, sorted(names))
        raise RequestError(f"there is no function {name!r} in {place!r}{near and f';{near}'}")
    if not callable(found):
        raise RequestError(f"{text!r} is a {type(found).__name__}; accepted: a function")
    return found


def _attribute(home: Any, path: str) -> Any:
    """Return an attribute, or one of an attribute and so on; None if there is none."""
    for name in path.split("."):
        home = getattr(home, name, None)
    return home


def _inner(function: Any) -> Any:
    return function.func if isinstance(function, partial) else function


def _given(function: Callable[..., Any]) -> tuple[Any, str, str]:
    inner = _inner(function)
    owner: Any = getattr(inner, "__objclass__", None)  # of a method in C
    module = str(getattr(inner, "__module__", None) or getattr(owner, "__module__", "__main__"))
    name = getattr(inner, "__qualname__", type(inner).__name__)
    root, _, part = module.partition(".")
    if root in LIBRARIES:
        public = f"{part}.{name}" if root == "networkit" else name  # which modules alone have
        return function, _public(root, public, inner), root
    return function, f"{module}:{name}", ""


def _annotated(function: Any, given: str | None) -> str | None:
    """Return the form that a function's first parameter is annotated with: that given, if any."""
    with contextlib.suppress(TypeError, ValueError, StopIteration):
        first = next(iter(inspect.signature(function).parameters.values()))
        said = str(first.annotation)
        named = [form for part, form in _ANNOTATIONS.items() if re.search(part, said)]
        return next(form for form in (given, *named) if form in named)
    return None


def _imported(function: Any, name: str) -> str:
    """Return the form of the only graph library that a function's module imports."""
    inner = inspect.unwrap(_inner(function))
    found = dict(vars(inspect.getmodule(inner) or ModuleType("none"))).values()
    homes = (getattr(each, "__module__", getattr(each, "__name__", "")) for each in found)
    imported = {str(home).partition(".")[0] for home in homes}
    forms = [each for each in _GRAPH_LIBRARIES if each in imported]
    if len(forms) < 2:
        return next(iter(forms), "scipy" if "scipy" in imported else "networkx")
    raise RequestError(
        f"{name} may take a graph of {' or '.join(forms)}; accepted: --as (in Python graph_form=) "
        f"with one of {', '.join(FORMS)}, or an annotation of its first parameter"
    )


def _check_signature(function: GraphFunction) -> None:
    try:
        if function.signature is not None:
            function.signature.bind(None, *function.positional, **function.keywords)
    except TypeError as error:
        accepted = ", ".join(map(str, list(function.parameters.values())[1:]))
        raise RequestError(
            f"{function.name} cannot be called with a graph and these arguments: {error}; accepted "
            f"after the graph: {accepted or 'none'}"
        ) from None


def _version(library: str) -> str:
    with contextlib.suppress(PackageNotFoundError):
        return version(library) if library else ""
    return ""
