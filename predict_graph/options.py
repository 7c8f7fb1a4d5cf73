"""The options of predictions and runs, and how an option is declared.

An option is a field or a parameter with a type; the section Parameters of the docstring has an
entry that says what it is, with its default in words and its form on the command line::

    name : --flag METAVAR, default in words
        What it is.

The signatures and parameter sections of :func:`~predict_graph.predict`,
:func:`~predict_graph.validate` and :func:`~predict_graph.run`, the command line with its help, and
the refusal of unknown options follow from here.
"""

from __future__ import annotations

import builtins
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from predict_graph.errors import RequestError, did_you_mean

if TYPE_CHECKING:
    from os import PathLike

    from predict_graph.clock.moment import Moment
    from predict_graph.engines import Engine
    from predict_graph.functions.naming import GraphFunction
    from predict_graph.history import History
    from predict_graph.iterations import Progress
    from predict_graph.transforms import Transform

F = TypeVar("F", bound=Callable[..., Any])


GIVEN: list[str] = []
"""The words of the command line: for the report, which states how to reproduce it, and errors."""


class Group:
    """Options that a command takes as one object."""


class Option(NamedTuple):
    """What the entry of a docstring says of an option.

    Also the type of its value on the command line, and its value when it is not given.
    """

    flags: Sequence[str] = ()
    metavar: str | None = None
    default: str = ""
    summary: str = ""
    form: type | None = None
    usual: object = None


class CommonOptions(TypedDict, total=False):
    """What predictions and runs have in common.

    Parameters
    ----------
    parameters
        Of the algorithm, by name.
    directed : default as the dataset or format says
        Whether edges have a direction.
    ids : default as they are
        Ids of a file: integer (from 0 on) or string.
    engine : default local
        Engine that runs the job.
    workers : default 4
        Workers that messages are counted for; in Python also the machines of Spark.
    threads : default all cores
        Threads of the local engine.
    spark
        A SparkSession that is open, for the engine spark: it stays open.
    history : FILE|none, default the user's data folder
        Where runs are kept and learned from.
    seed : default a fresh one
        Same seed, same result.
    spark_reads
        Spark reads the graph itself: a path or address that its executors see (always so for a
        DataFrame of edges).
    """

    parameters: Mapping[str, object] | None
    directed: bool | None
    ids: str | None
    engine: str | Engine
    workers: int | None
    threads: int | None
    spark: Any
    history: History | str | PathLike[str] | bool | None
    seed: int | None
    spark_reads: bool


class PredictOptions(CommonOptions, total=False):
    """The options of :func:`~predict_graph.predict`.

    Parameters
    ----------
    sampler : default brj
        Sampler of the sample runs, for methods that walk.
    ratio : default 0.1
        Vertices of a sample / vertices of the graph, in (0, 1].
    train_ratios : R,R,…, default 0.05,0.1,0.15,0.2 where they are needed
        Sampling ratios of the runs that train the cost model, two or more in (0, 1].
    budget : 5%|30s|unlimited, default 5%, from 2 s to 2 min; unlimited if options are given
        What the prediction may cost: a share of the predicted run, a time (a number is seconds), or
        no limit.
    within : 10%, default as near as the budget allows
        Stop as soon as the interval of the runtime is ± so much, within the budget.
    method : default the best for the algorithm; published where a sampler or transform is given
        How iterations are estimated: completion, rooted, published or a registered one.
    transform : default the rule for the kind of convergence
        Transform function of the convergence threshold, for methods that walk.
    cost_model : default forward-nnls, where a regression is needed
        Cost model whose regression gives the seconds.
    max_overhead : default 0.6
        Edges of all samples / edges of the graph, at most.
    probe : default yes, where the engine can
        Whether the first supersteps of the run are timed.
    progress
        Called with a text and a fraction as work is done.
    """

    sampler: str | None
    ratio: float | None
    train_ratios: Sequence[float] | None
    budget: str | float | None
    within: str | float | None
    method: str | None
    transform: str | Transform | None
    cost_model: str | None
    max_overhead: float | None
    probe: bool | None
    progress: Progress | None


class RunOptions(CommonOptions, total=False):
    """The options of :func:`~predict_graph.run`.

    Parameters
    ----------
    progress
        Called with a Moment, what is done and what remains: when the graph is read, after each
        superstep, at the end.
    expect : default earlier runs in the history, or a baseline estimate
        A prediction of this run, or its JSON as a mapping or a file, from which the remaining time
        starts; it is read where progress is given.
    write_to
        Where the result goes: ``.csv``, ``.tsv`` or ``.parquet``.
    """

    progress: Callable[[Moment], None] | None
    expect: Any
    write_to: str | PathLike[str] | None


_USUAL = {"engine": "local", "spark_reads": False}  # None for the others
_FOR_FUNCTIONS = ("directed", "ids", "history", "seed", "budget", "within", "progress")
_ENTRY = re.compile(
    r"^(\w+)(?: : (.*?)(?:(?:, |(?<= : ))default (.*?))?)?\n((?:    .*(?:\n|$))+)", re.MULTILINE
)
_FLAG = re.compile(r"--?\w[\w-]*(/--[\w-]+)?")
_SIMPLE = re.compile(r"(Sequence\[)?\b(str|int|float|bool)\b")


def described(thing: Any) -> dict[str, Option]:
    """Return what the section Parameters of a docstring says."""
    section = inspect.cleandoc(thing.__doc__ or "").partition("Parameters\n----------\n")[2]
    found = {}
    for name, form, default, text in _ENTRY.findall(section):
        flags = [word for word in form.split() if _FLAG.fullmatch(word)]
        metavar = " ".join(word for word in form.split() if word not in flags)
        found[name] = Option(flags, metavar or None, default, " ".join(text.split()))
    return found


def declared(options: Any) -> dict[str, Option]:
    """Return the declaration of each option of a typed dictionary."""
    texts = described(CommonOptions) | described(options)
    return {
        name: texts.get(name, Option())._replace(form=_form(types), usual=_USUAL.get(name))
        for name, types in _types(options).items()
    }


def _types(options: Any) -> dict[str, str]:
    return {name: types.__forward_arg__ for name, types in options.__annotations__.items()}


def _form(types: str) -> type | None:
    """Return the first simple type of an annotation, text for several; None if there is none."""
    found = _SIMPLE.search(types)
    return None if found is None else str if found[1] else getattr(builtins, found[2])


OPTIONS = declared(PredictOptions)
"""Those of a prediction."""
ESTIMATION = [
    name
    for name, option in OPTIONS.items()
    if option.form is not None and name not in CommonOptions.__annotations__
]
"""The options of a prediction that a run does not have."""


def completed(options: Any, given: Mapping[str, Any], function: str) -> dict[str, Any]:
    """Return the given options with the usual values of the others, and of those that are None."""
    for name in given:
        if name not in options.__annotations__:
            raise RequestError(
                f"{name} is no option of {function};{did_you_mean(name, options.__annotations__)} "
                f"accepted: {', '.join(options.__annotations__)}, and parameters of the algorithm "
                "in parameters={...}"
            )
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        if OPTIONS.get(name, Option()).form is bool and value not in (True, False):
            raise RequestError(f"{name} is {value!r}; accepted: True or False")
    return {name: said.get(name, _USUAL.get(name)) for name in options.__annotations__}


def for_function(
    function: str | Callable[..., Any], graph: Any, given: Mapping[str, Any]
) -> tuple[GraphFunction, dict[str, Any]]:
    """Return a call of a function, its arguments checked, and the options of its prediction."""
    from predict_graph.functions.naming import check_function
    from predict_graph.functions.sizes import GraphSize

    left = dict(given)
    options = {name: left.pop(name) for name in _FOR_FUNCTIONS if name in left}
    for name in [name for name in left if name in OPTIONS]:
        if left.pop(name) not in (None, OPTIONS[name].usual):
            said, accepted = name, f"keywords={{{name!r}: …}}"
            if GIVEN:  # on the command line
                said, accepted = f"--{name.replace('_', '-')}", f"--arg {name}=VALUE"
            raise RequestError(f"{said} is read for algorithms alone; accepted: {accepted}")
    positional, form = left.pop("arguments", ()), left.pop("graph_form", None)
    keywords = {**(left.pop("keywords", None) or {}), **left}
    called, how = not isinstance(graph, GraphSize), {"form": form, "graph": graph}
    return check_function(function, positional, keywords, **how, called=called), options


def offers(options: Any, *, call: bool = False, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Give a function that takes ``**options`` their signature and parameter section.

    With `call` it also takes the keyword arguments of a function that is predicted.
    """

    def describe(function: F) -> F:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        known, lines = declared(options), []
        for name, types in _types(options).items():
            if name not in without:
                option = known[name]
                named = rest.replace(name=name, kind=rest.KEYWORD_ONLY)
                own.append(named.replace(default=option.usual, annotation=types))
                usual = f" By default {option.default}." if option.default else ""
                lines += [f"{name} : {types.removesuffix(' | None')}, optional"]
                lines += [f"    {line}" for line in textwrap.wrap(option.summary + usual, 92)]
        own += [rest.replace(name="arguments")] if call else []
        text = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = text.replace("{options}", "\n".join(lines))
        function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        return function

    return describe
