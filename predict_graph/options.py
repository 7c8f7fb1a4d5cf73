"""The options of predictions and runs, each declared once.

The signatures and parameter sections of :func:`~predict_graph.predict`,
:func:`~predict_graph.validate`, :func:`~predict_graph.run`, the
command line with its help, defaults, and the refusal of unknown options follow from here.
"""

import builtins
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, TypedDict, TypeVar

from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from predict_graph.clock import Moment
    from predict_graph.engines import Engine
    from predict_graph.history import History
    from predict_graph.iterations import Progress
    from predict_graph.transforms import Transform

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes
    ----------
    summary : str
        What it is, with its unit, in one sentence.
    default : str
        What is taken when it is not given, in words.
    metavar : str, optional
        Its form on the command line, if the type does not say it.
    names : str, optional
        Kind of the plug-ins whose names it accepts.
    more : str
        What else a Python program may pass.
    usual : object
        Its value when it is not given.
    for_functions : bool
        Whether predictions of functions read it, too.
    """

    summary: str
    default: str = ""
    metavar: str | None = None
    names: str | None = None
    more: str = ""
    usual: object = None
    for_functions: bool = False

    @property
    def text(self) -> str:
        """The sentences of a parameter section."""
        usual = f"By default {self.default}." if self.default else ""
        return " ".join(filter(None, (self.summary, self.more, usual)))


class CommonOptions(TypedDict, total=False):
    """What predictions and runs have in common."""

    parameters: Annotated["Mapping[str, object] | None", Option("Of the algorithm, by name.")]
    directed: Annotated[
        "bool | None",
        Option(
            "Whether edges have a direction.", "as the dataset or format says", for_functions=True
        ),
    ]
    ids: Annotated[
        "str | None",
        Option("Ids of a file: integer (from 0 on) or string.", "as they are", for_functions=True),
    ]
    engine: Annotated[
        "str | Engine", Option("Engine that runs the job.", "local", names="engines", usual="local")
    ]
    workers: Annotated[
        "int | None",
        Option("Workers that messages are counted for.", "4", more="Of Spark: machines."),
    ]
    threads: Annotated["int | None", Option("Threads of the local engine.", "all cores")]
    spark: Annotated[
        "Any", Option("A SparkSession that is open, for the engine spark: it stays open.")
    ]
    history: Annotated[
        "History | str | PathLike[str] | bool | None",
        Option(
            "Where runs are kept and learned from.",
            "the user's data folder",
            "FILE|none",
            for_functions=True,
        ),
    ]
    seed: Annotated[
        "int | None", Option("Same seed, same result.", "a fresh one", for_functions=True)
    ]
    spark_reads: Annotated[
        "bool",
        Option(
            "Spark reads the graph itself: a path or address that its executors see.",
            more="So it does with a table of Spark (a DataFrame of edges) in any case.",
            usual=False,
        ),
    ]


class PredictOptions(CommonOptions, total=False):
    """The options of :func:`~predict_graph.predict`."""

    sampler: Annotated[
        "str | None",
        Option("Sampler of the sample runs, for methods that walk.", "brj", names="samplers"),
    ]
    ratio: Annotated[
        "float | None", Option("Vertices of a sample / vertices of the graph, in (0, 1].", "0.1")
    ]
    train_ratios: Annotated[
        "Sequence[float] | None",
        Option(
            "Sampling ratios of the runs that train the cost model, two or more in (0, 1].",
            "0.05,0.1,0.15,0.2 where they are needed",
            "R,R,…",
        ),
    ]
    train_machines: Annotated[
        "Sequence[int] | None",
        Option(
            "Machine counts of the sample runs on a cluster, from 1 to 4096.",
            "1, 2, and 4 for 8 machines or more",
            "M,M,…",
        ),
    ]
    budget: Annotated[
        "str | float | None",
        Option(
            "What the prediction may cost: a share of the predicted run, a time, or none for no "
            "limit.",
            "the larger of 2 s and 5% of the run, at most 2 min; none where options are given",
            "5%|30s|none",
            more="A number is seconds.",
            for_functions=True,
        ),
    ]
    within: Annotated[
        "str | float | None",
        Option(
            "Stop as soon as the interval of the runtime is so narrow, within the budget.",
            "as near as the budget allows",
            "10%",
            for_functions=True,
        ),
    ]
    method: Annotated[
        "str | None",
        Option(
            "How iterations are estimated: completion, rooted, published or a registered one.",
            "the best for the algorithm; published where a sampler or transform is given",
            names="methods",
        ),
    ]
    transform: Annotated[
        "str | Transform | None",
        Option(
            "Transform function of the convergence threshold, for methods that walk.",
            "the rule for the kind of convergence",
            names="transforms",
        ),
    ]
    cost_model: Annotated[
        "str | None",
        Option(
            "Cost model whose regression gives the seconds.",
            "forward-nnls, as one source beside the others",
            names="cost-models",
        ),
    ]
    max_overhead: Annotated[
        "float | None", Option("Edges of all samples / edges of the graph, at most.", "0.6")
    ]
    probe: Annotated[
        "bool | None",
        Option(
            "Whether the first supersteps of the run are timed.",
            "yes, where the engine can",
        ),
    ]
    progress: Annotated[
        "Progress | None",
        Option("Called with a text and a fraction as work is done.", for_functions=True),
    ]


class RunOptions(CommonOptions, total=False):
    """The options of :func:`~predict_graph.run`."""

    progress: Annotated[
        "Callable[[Moment], None] | None",
        Option(
            "Called with a Moment, what is done and what remains: when the graph is read, after "
            "each superstep, at the end."
        ),
    ]
    expect: Annotated[
        "Any",
        Option(
            "A prediction of this run, or its JSON as a mapping or a file, from which the "
            "remaining time starts; it is read where progress is given.",
            "earlier runs in the history, or a baseline estimate",
        ),
    ]
    write_to: Annotated[
        "Path | None", Option("Where the result goes: ``.csv``, ``.tsv`` or ``.parquet``.")
    ]


def declared(options: Any) -> dict[str, Option]:
    """Return the declaration of each option of a typed dictionary."""
    return {name: form.__metadata__[0] for name, form in options.__annotations__.items()}


def _form(types: ForwardRef) -> Any:
    """Return the first simple type of an annotation, the type of a value on the command line."""
    found = re.search(r"\b(str|int|float|bool)\b", types.__forward_arg__)
    return None if found is None else getattr(builtins, found[0])


OPTIONS = declared(PredictOptions)
"""Those of a prediction."""
FORMS = {name: _form(form.__origin__) for name, form in PredictOptions.__annotations__.items()}
"""The type of each on the command line; None for what only a Python program can give."""
ESTIMATION = [name for name in OPTIONS if FORMS[name] and name not in CommonOptions.__annotations__]
"""The options of a prediction that a run does not have."""


def completed(options: Any, given: Mapping[str, Any], function: str) -> dict[str, Any]:
    """Return the given options with the usual values of the others."""
    known = declared(options)
    for name in given:
        if name not in known:
            raise RequestError(
                f"{name} is no option of {function}; accepted: {', '.join(known)}, and parameters "
                "of the algorithm in parameters={...}"
            )
    return {name: given.get(name, option.usual) for name, option in known.items()}


def for_function(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a prediction of a function, and the arguments of its call."""
    kept = {}
    for name, value in given.items():
        option = OPTIONS.get(name)
        if option is None or option.for_functions:
            kept[name] = value
        elif value != option.usual:
            raise RequestError(f"{name} is read for algorithms, not for functions; leave it out")
    return kept


def offers(options: Any, *, call: bool = False, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Give a function that takes ``**options`` their signature and parameter section.

    With `call` it also takes the keyword arguments of a function that is predicted.
    """

    def describe(function: F) -> F:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        lines, parameters = [], []
        for name, form in options.__annotations__.items():
            if name in without:
                continue
            option, types = form.__metadata__[0], form.__origin__.__forward_arg__
            parameters.append(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=option.usual, annotation=types
                )
            )
            lines.append(f"{name} : {types.removesuffix(' | None')}, optional")
            lines += textwrap.wrap(option.text, 96, initial_indent="    ", subsequent_indent="    ")
        parameters += [rest.replace(name="arguments")] if call else []
        text = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = text.replace("{options}", "\n".join(lines))
        function.__signature__ = signature.replace(parameters=[*own, *parameters])  # type: ignore[attr-defined]
        return function

    return describe
