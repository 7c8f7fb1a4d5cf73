"""What a user may ask of a prediction, checked in one place: every option is read, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter, signature
from typing import Any, Unpack

from predict_graph import engines, iterations
from predict_graph.algorithms import ALGORITHMS, SPARK_LIBRARIES, Algorithm, check_algorithm
from predict_graph.budget import Budget, check_budget, check_within
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.team import available_threads
from predict_graph.errors import RequestError, did_you_mean
from predict_graph.options import PredictOptions, completed
from predict_graph.plugins import Registry
from predict_graph.prediction.seconds.learned import runtime_model_of
from predict_graph.prediction.seconds.regression import COST_MODELS
from predict_graph.seeds import check_seed
from predict_graph.transforms import TRANSFORMS, Transform, check_transform

DEFAULT_SAMPLER, DEFAULT_RATIO = "brj", 0.1  # PREDIcT, section 3.2; 10% as in its conclusions

_REGISTRIES: Mapping[str, Registry[Any]] = {
    "sampler": iterations.SAMPLERS,
    "transform": TRANSFORMS,
    "cost_model": COST_MODELS,
}
_READ = (*_REGISTRIES, "ratio", "train_ratios", "max_overhead", "probe")
_OF_METHOD = frozenset({"sampler", "transform", "ratio", "max_overhead"})
OF_ESTIMATION = _OF_METHOD | {"method"}


@dataclass(frozen=True)
class Request:
    """The checked options of one prediction; see :func:`~predict_graph.predict`.

    ``given`` holds the options that the user gave, and ``named`` those and the ones that a part
    is registered for; what is not in it is a default.
    """

    algorithm: Algorithm
    engine: engines.Engine
    runtime_model: type[engines.RuntimeModel]
    method: iterations.Method
    sampler: str
    ratio: float
    transform: Transform
    max_overhead: float
    seed: int
    progress: iterations.Progress
    cost_model: str | None = None
    train_ratios: tuple[float, ...] | None = None
    probe: bool | None = None
    budget: Budget = field(default_factory=Budget)
    within: float | None = None
    named: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()

    @property
    def evidence_named(self) -> bool:
        """Whether an option or a registered part asks for samples or for a cost model."""
        return any(
            part.named or registry.preferred(part.algorithm.name) is not None
            for part in self.chain
            for registry in (iterations.METHODS, iterations.SAMPLERS, TRANSFORMS, COST_MODELS)
        )

    @property
    def chain(self) -> list[Request]:
        """The requests of a chain of algorithms, in the order in which they run."""
        prior = self.algorithm.prior
        if prior is None:
            return [self]
        asked = {name: getattr(self, name) for name in _REGISTRIES if name in self.given}
        named = "method" in self.named and self.method.suits(prior)
        method = self.method.name if named else None
        before = replace(self, **_for(prior, method, _parts(asked, prior)))
        return [*before.chain, self]

    @property
    def baseline_would_ignore(self) -> bool:
        """Whether the user asked for what a baseline estimate would not read."""
        engine = self.engine
        own = type(engine) is LocalEngine and engine.threads != available_threads()
        return bool(self.named) or own


def check_engine(options: Mapping[str, Any]) -> engines.Engine:
    """Return an engine from its name and settings, or the engine given.

    Parameters
    ----------
    options : mapping
        ``engine``, its name or itself; ``workers``, ``threads``, and ``spark``, an open session for
        the engine ``"spark"``, where they are given.

    Raises
    ------
    RequestError
        If nothing has this name, or a setting is out of range or none of this engine.
    """
    value: str | engines.Engine = options["engine"]
    if not isinstance(value, str | engines.Engine):
        raise RequestError(f"engine is {value!r:.80}; accepted: a name, or an Engine")
    settings = ("workers", "threads", "spark")
    given = {name: options[name] for name in settings if options.get(name) is not None}
    if "spark" in given and value != "spark":
        name = value if isinstance(value, str) else value.name
        raise RequestError(
            f"spark, a session, is not read by the engine {name!r}; accepted: engine='spark'"
        )
    if isinstance(value, str):
        factory: Callable[..., engines.Engine] = engines.ENGINES.get(value)
        accepted = signature(factory).parameters
        anything = any(each.kind is Parameter.VAR_KEYWORD for each in accepted.values())
        for name in given:
            if name not in accepted and not anything:
                raise RequestError(f"{name} is no setting of the engine {value}; leave it out")
        return factory(**given)
    if given:
        raise RequestError("workers or threads are given beside an engine that has its own")
    return value


def check_request(algorithm: Any, **options: Unpack[PredictOptions]) -> Request:
    """Return the checked request.

    Raises
    ------
    RequestError
        Names the first wrong value and what is accepted, or the option that nothing would read.
    """
    asked = completed(PredictOptions, options, "a prediction")
    chosen = check_function(algorithm, asked["parameters"])
    runs_on = check_engine(asked)
    runtime_model = runtime_model_of(runs_on)
    given = {name: asked[name] for name in _READ} | _parts(asked, chosen)
    named = frozenset(name for name, value in given.items() if value is not None)
    method, spend = asked["method"], check_budget(asked["budget"])
    chosen_method = method is not None or iterations.METHODS.preferred(chosen.name) is not None
    if asked["budget"] is None and (named or chosen_method):
        spend = Budget()  # what the user asks for is done, whatever it costs
    iterations.SAMPLERS.get(given["sampler"] or DEFAULT_SAMPLER)
    if given["cost_model"] is not None:
        COST_MODELS.get(given["cost_model"])
    request = Request(
        **_for(chosen, method, given),
        engine=runs_on,
        runtime_model=runtime_model,
        ratio=iterations.check_ratio(DEFAULT_RATIO if asked["ratio"] is None else asked["ratio"]),
        max_overhead=iterations.check_max_overhead(asked["max_overhead"]),
        seed=check_seed(asked["seed"]),
        progress=asked["progress"] or (lambda text, fraction: None),
        train_ratios=_check_train_ratios(asked["train_ratios"]),
        probe=asked["probe"],
        budget=spend,
        within=check_within(asked["within"]),
        named=named | (frozenset({"method"}) if chosen_method else frozenset()),
        given=frozenset(name for name in named if asked[name] is not None),
    )
    _refuse_unread(request)
    return request


def _parts(asked: Mapping[str, Any], algorithm: Algorithm) -> dict[str, Any]:
    """Return the parts that the user named, or else those registered for an algorithm."""
    return {
        name: asked.get(name) or registry.preferred(algorithm.name)
        for name, registry in _REGISTRIES.items()
    }


def _for(algorithm: Algorithm, method: str | None, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that depend on its algorithm."""
    return {
        "algorithm": algorithm,
        "method": _method(method, algorithm, parts),
        "sampler": parts["sampler"] or DEFAULT_SAMPLER,
        "transform": check_transform(parts["transform"], algorithm.convergence),
        "cost_model": parts["cost_model"],
    }


def _method(name: str | None, algorithm: Algorithm, parts: Mapping[str, Any]) -> iterations.Method:
    """Return the method: named, or the best one that reads the sampler and transform named."""
    method = iterations.check_method(name, algorithm)
    read = {part for part in ("sampler", "transform") if parts[part] is not None}
    if name is None and not read <= method.reads:  # the one that walks
        return iterations.check_method("published", algorithm)
    return method


def _refuse_unread(request: Request) -> None:
    """Refuse the first option that neither the method nor the engine reads.

    A method that was named keeps the sampler and the transform to itself: of an engine that draws
    samples for its seconds too, the user would not notice that the iterations are others'. A
    prediction ends when near enough where its samples can be made larger step by step.
    """
    method, algorithm, engine = request.method, request.algorithm, request.engine
    if check := getattr(engine, "check_program", None):  # of Spark
        check(algorithm)
    # Where samples tell seconds, too, it matters which they are.
    by_work = getattr(request.runtime_model, "by_work_alone", False)
    known = algorithm.known_work and by_work and "sampler" not in method.reads
    read = method.reads | (request.runtime_model.reads - _OF_METHOD)
    near_enough = set() if request.within is None else {"within"}
    for name in sorted(request.named - {"method"} | near_enough):
        if name in ("ratio", "max_overhead") and known:
            raise RequestError(
                f"{name} is not read by the engine {engine.name} for {algorithm.name}, whose "
                "supersteps and messages are known without samples; accepted: leave it out"
            )
        if name in read:
            continue
        models = {
            each: runtime_model_of(engines.ENGINES.get(each)) for each in engines.ENGINES.names()
        }
        readers = [f"the engine {each}" for each, model in models.items() if name in model.reads]
        where = f"the method {method.name}" if name in _OF_METHOD else f"the engine {engine.name}"
        accepted = _accepted([*_methods_that_read(name, algorithm), *readers])
        raise RequestError(f"{name} is not read by {where}; accepted: {accepted}")
    if near_enough and "max_overhead" not in method.reads:
        accepted = _accepted(_methods_that_read("max_overhead", algorithm))
        raise RequestError(f"within is not read by the method {method.name}; accepted: {accepted}")


def _methods_that_read(option: str, algorithm: Algorithm) -> list[str]:
    names = iterations.methods_for(algorithm)
    return [f"the method {name}" for name in names if option in iterations.METHODS.get(name).reads]


def _accepted(readers: Sequence[str]) -> str:
    return f"{' or '.join(readers)} reads it" if readers else "leave it out"


def is_local(engine: engines.Engine) -> bool:
    """Whether an engine is the compiled one of this machine, and not one made of it."""
    return type(engine) is LocalEngine


def direction(algorithm: Algorithm, directed: bool | None, graph: Any = None) -> bool | None:
    """Return how a graph is to be read: undirected for an algorithm that needs it so.

    Raises
    ------
    RequestError
        If the user wants it directed for such an algorithm, or names weights that do not count.
    """
    column = getattr(graph, "weight_column", None)
    if column is not None and not algorithm.weighted:
        raise RequestError(
            f"the weight column is {column!r}, but {algorithm.name} ignores weights; leave it out"
        )
    if not algorithm.undirected:
        return directed
    if directed:
        raise RequestError(
            f"directed is True, but {algorithm.name} ignores the direction of edges; leave it out"
        )
    return False


def check_function(
    algorithm: str | Algorithm, parameters: Mapping[str, object] | None = None
) -> Algorithm:
    """Return an algorithm from its name, or what ``FILE.py:FUNCTION`` and ``LIBRARY:NAME`` name.

    Raises
    ------
    RequestError
        If there is none, or a parameter is not accepted.
    """
    if not isinstance(parameters, Mapping | None):
        raise RequestError(f"parameters are {parameters!r}; accepted: a mapping of names to values")
    if isinstance(algorithm, str) and ".py:" in algorithm:
        from predict_graph.engines.spark.functions.running import FunctionAlgorithm

        return FunctionAlgorithm(algorithm, parameters)
    known = {*ALGORITHMS.names(), *SPARK_LIBRARIES}
    if isinstance(algorithm, str) and not known & {algorithm, algorithm.partition(":")[0]}:
        import networkx

        if ":" in algorithm:
            raise RequestError(
                f"{algorithm} is a function of Python, which runs on this machine; accepted: "
                f"without --engine, or one of {', '.join(sorted(ALGORITHMS.names()))}"
            )
        names, module = ALGORITHMS.names(), vars(networkx)
        functions = [f"networkx:{name}" for name in module if hasattr(module[name], "orig_func")]
        text = "networkx:" + re.sub(r"^(nx|networkx)\.", "", algorithm)
        meant = text if text in functions else algorithm
        asked = did_you_mean(meant, [*names, *functions])
        raise RequestError(
            f"unknown algorithm {algorithm!r};{asked} accepted: {', '.join(sorted(names))}"
        )
    return check_algorithm(algorithm, parameters)


def _check_train_ratios(ratios: Sequence[float] | None) -> tuple[float, ...] | None:
    if ratios is None:
        return None
    listed = list(ratios) if isinstance(ratios, Iterable) else [ratios]
    checked = tuple(sorted({iterations.check_ratio(ratio) for ratio in listed}))
    if len(checked) < 2:
        raise RequestError(f"train ratios are {listed}; accepted: at least two different ratios")
    return checked
