"""The sources of evidence of a prediction, each with its cost, its estimate and its deadline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from predict_graph import engines, iterations
from predict_graph.budget import DEFAULT_BUDGET, Budget, Spending
from predict_graph.calibration import log_std, sampling_of
from predict_graph.cores import meter
from predict_graph.deadline import StopRun, deadline
from predict_graph.durations import readable_seconds
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.engines.local.observed import PROBED_SUPERSTEPS
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.errors import JobError
from predict_graph.evidence import Source
from predict_graph.graph import Graph, check_graph
from predict_graph.history import RunRecord
from predict_graph.iterations import IterationEstimate, whole_run
from predict_graph.iterations.method import LEAN
from predict_graph.prediction.baseline import baseline_iterations, baseline_runtime
from predict_graph.prediction.case import Case
from predict_graph.prediction.memory import peak_memory
from predict_graph.prediction.request import OF_ESTIMATION, Request
from predict_graph.prediction.seconds.earlier_runs import earlier_runtimes, of_this_engine
from predict_graph.prediction.seconds.local import probing_limit
from predict_graph.prediction.seconds.regression import fitted_line
from predict_graph.prediction.work import records_of


def weighted(
    stopped: engines.RunProfile, sampled: Sequence[IterationEstimate], case: Case
) -> list[IterationEstimate]:
    """Return the estimates of each algorithm of a chain, whose last one was stopped.

    Those before it are exact; the last one is weighted with that of other evidence.
    """
    own = whole_run.continued(sampled[-1], case.request.algorithm, stopped, case.graph)
    return [*whole_run.whole_run_estimates(stopped.prior), own]


def stopped_runtimes(
    stopped: engines.RunProfile, workloads: Sequence[engines.Workload]
) -> list[engines.RuntimeEstimate]:
    """Return the seconds by the supersteps that ran: a fixed part, and that of messages."""
    runs = [[record] for record in records_of(stopped)]
    found = earlier_runtimes(runs, workloads, "first supersteps")
    own, done = found[-1], stopped.iterations
    messages = own.rows.floats("local_messages", "remote_messages")
    seconds = own.rows.floats("seconds")
    line = fitted_line(messages[:done], seconds[:done])
    seconds[done:] = np.minimum(line.constant + line.slope * messages[done:], seconds[:done].max())
    late = stopped.unfinished
    if done < len(seconds) and late > seconds[done]:  # longer than expected: as long again
        seconds[done] = 2.0 * late
    left = 1.0 - float(seconds[:done].sum() / seconds.sum())
    std = math.hypot(log_std("equal runs"), left * log_std("usual seconds"))
    evidence = replace(own.evidence, seconds=seconds, relative_std=std)
    writing = own.phases["write"] * len(seconds) / max(done, 1)  # checkpoints
    found[-1] = workloads[-1].runtime(evidence, own.phase_std, **{**own.phases, "write": writing})
    return found


# Edges of all samples / edges of the graph: small ones are nearly as good (docs/studies).
LEVELS = (LEAN, 0.05, 0.2, 0.6)

_COUNTING = 4e-9  # seconds an edge of counting messages; measured on R-MAT 20 and 22


@dataclass(frozen=True)
class Estimate:
    """What one source says of each algorithm of the chain.

    Parameters
    ----------
    iterations : list of IterationEstimate
        Empty for a run that was stopped.
    runtimes : list of RuntimeEstimate
        Empty where the source does not know the seconds of the engine.
    chain : sequence of Request
        The options that it used.
    measured : bool
        Whether seconds were measured now, and not on a machine with less or more to do.
    complete : bool
        Whether nothing can be known better.
    more : str
        What a larger budget would buy; what the runtimes say of it if it is empty.
    stopped : RunProfile, optional
        Of a run that its deadline stopped: evidence beside samples.
    here : float
        Seconds of the job on this machine, where it ran to its end for another engine.
    """

    iterations: list[IterationEstimate]
    runtimes: list[engines.RuntimeEstimate]
    chain: Sequence[Request]
    measured: bool = False
    complete: bool = False
    more: str = ""
    stopped: engines.RunProfile | None = None
    here: float = 0.0


Estimates = Sequence[Estimate]


def sources_of(case: Case) -> Iterator[Source]:
    """Yield the sources, the least expensive first; what samples may cost is decided late."""
    yield EarlierRuns()
    if case.local:
        least = sum(each.quantile(0.25) for each in case.baselines)
        case.spending.expects(float(case.graph.read_seconds + least))
    else:
        known = Estimate(_recalled(case, case.records), [], case.chain)
        baseline = case.combined([BaselineEstimate().estimate(case, [known])])
        case.spending.expects(baseline.runtime_seconds.predicted)
    yield FullRun()
    levels = affordable_levels(case)
    for level in levels or [LEAN]:
        yield Samples(level, asked=level in levels[:1])
    yield BaselineEstimate()


def _recalled(case: Case, records: Sequence[Sequence[RunRecord]]) -> list[IterationEstimate]:
    """Return the iterations of the first of some runs of each algorithm of the chain."""
    workers = case.request.engine.workers
    return [whole_run.recalled_estimate(own[0], workers) for own in records]


def _exact(evidence: Estimates) -> list[IterationEstimate]:
    """Return iterations that no sample can know better."""
    known = (found.iterations for found in evidence if not found.runtimes and not found.stopped)
    return next(known, [])


def _stopped(evidence: Estimates) -> engines.RunProfile | None:
    return next((found.stopped for found in evidence if found.stopped), None)


class EarlierRuns(Source):
    """Earlier runs of this job on this graph: of any engine iterations, of this one all."""

    def estimate(self, case: Case, evidence: Estimates) -> Estimate | None:
        """Return them if there are any of each algorithm of the chain."""
        if not case.records:
            return None
        own = [of_this_engine(part, case.request.engine) for part in case.records]
        if not all(own):
            return Estimate(_recalled(case, case.records), [], case.chain)
        estimates = _recalled(case, own)
        runtimes = earlier_runtimes(own, case.workloads(estimates))
        if case.local:  # the graph has been read now, perhaps from another file than then
            runtimes[0].phases["read"] = case.graph.read_seconds
        return Estimate(estimates, runtimes, case.chain, complete=True)


class FullRun:
    """The run itself, by the compiled kernel; on another engine, its exact iterations."""

    source = "full local run"

    def estimate(self, case: Case, evidence: Estimates) -> Estimate | None:
        """Return what it says, without seconds if the job runs on another engine."""
        profile = self.run(case)
        if profile is None or (profile.stopped and not profile.iterations):
            return None
        if profile.stopped:
            return Estimate([], [], case.chain, stopped=profile)
        estimates = whole_run.whole_run_estimates(profile)
        if not case.runs_itself:
            return Estimate(estimates, [], case.chain, here=profile.runtime_seconds)
        runs = [[record] for record in records_of(profile)]
        runtimes = earlier_runtimes(runs, case.workloads(estimates), self.source)
        return Estimate(estimates, runtimes, case.chain, measured=True, complete=True)

    def cost(self, case: Case, evidence: Estimates) -> float:
        """Return what one run in twenty takes at most; infinity if it is not wanted, or cannot fit.

        A run that may well end is tried: its iterations are exact, and one that was stopped shows
        its first supersteps; where these say nothing of later ones, six runs in seven have to end.
        On the local engine that is the job itself: an unlimited budget does not run a long one, and
        options of sampling or cost models ask for other evidence.
        """
        request, graph = case.request, case.graph
        named = request.evidence_named if case.local else request.named & OF_ESTIMATION
        if evidence or named or not runs_here(request.algorithm):
            return math.inf
        share = 0.85 if request.algorithm.uneven else 0.5 if request.budget.unlimited else 0.05
        needed = sum(each.quantile(share) + _COUNTING * graph.edges for each in case.baselines)
        needed *= meter.read().slowdown
        if case.local and request.budget.unlimited and needed > DEFAULT_BUDGET.least_seconds:
            return math.inf
        threads = getattr(request.engine, "threads", None)
        return needed if peak_memory(graph, request.algorithm, threads).fits else math.inf

    def run(self, case: Case) -> engines.RunProfile | None:
        """Run the job on this machine until the budget, less a reserve for samples, is spent.

        Returns None if its setup, or the run before it in a chain, takes longer than that.
        """
        request, spending = case.request, case.spending
        local: Any = _counting_engine(request)
        with spending.loading():
            local.load(request.algorithm)
        request.progress("full run on this machine", 0.0)
        samples = sampling_seconds(case, LEVELS[0])
        reserve = samples if spending.affords(samples) else 0.0
        with deadline(lambda: spending.left - reserve), suppress(StopRun):
            profile: engines.RunProfile = local.run(request.algorithm, case.graph)
            return profile if profile.algorithm == request.algorithm.name else None
        return None


@dataclass(frozen=True)
class Samples:
    """Iterations of samples with so many edges, and seconds by the runtime model of the engine.

    Parameters
    ----------
    level : float
        Edges of all samples / edges of the graph.
    asked : bool
        Whether they were found affordable, or the user named what they read.
    """

    level: float
    asked: bool

    def cost(self, case: Case, evidence: Estimates) -> float:
        """Return what samples of this level take; nothing more where iterations are exact."""
        if any(found.runtimes for found in evidence):
            return cost_of_samples(case, self.level)
        return 0.0 if self.asked or _exact(evidence) else math.inf

    def estimate(self, case: Case, evidence: Estimates) -> Estimate | None:
        """Return it; without seconds if no supersteps of the run are affordable beside."""
        spending, stopped = case.spending, _stopped(evidence)
        # What the user named is done, even where the budget is too small for it.
        named = case.request.baseline_would_ignore
        beyond = named and cost_of_samples(case, self.level) > spending.left_at_most

        def left() -> float:
            return math.inf if beyond else spending.left_at_most

        chain = [replace(part, max_overhead=self.level) for part in case.chain]
        found = _exact(evidence)
        with spending.loading():
            load_compiled(case.graph, case.chain)
        try:
            if not found and case.request.method.estimate is not None:
                with deadline(left):
                    found = estimates_of(case.graph, chain)
            if stopped is not None and case.local:  # its supersteps show the seconds
                ended = weighted(stopped, found, case)
                runtimes = stopped_runtimes(stopped, case.workloads(ended))
            else:
                if case.local and survey_seconds(case, self.level) > left():
                    raise StopRun
                with deadline(left if case.local else None):
                    model: Any = case.runtime_model
                with deadline(left):
                    found = found or model.observe()
                ended = weighted(stopped, found, case) if stopped else checked(case, found, model)
                with deadline(left if case.local else None):
                    runtimes = model.estimate(case.workloads(ended))
        except StopRun:
            known = not found or any(each.runtimes for each in evidence)
            return None if known else Estimate(checked(case, found), [], chain)
        return Estimate(ended, runtimes, chain, measured=True, more=more_samples(case, self.level))


def checked(
    case: Case, sampled: list[IterationEstimate], by: Any = None
) -> list[IterationEstimate]:
    """Return estimates by samples, checked against the first supersteps that a model has timed."""
    found = []
    for algorithm, each in zip(case.algorithms, sampled, strict=True):
        # Arbitrary values began the supersteps of what follows another algorithm.
        probes = [] if algorithm.prior else getattr(by, "probes", {}).get(algorithm.name, [])
        first = probes[0].rows.floats("convergence") if probes else np.empty(0)
        if each.method in ("completion", "rooted"):  # others are what the user named, or exact
            each = whole_run.checked(each, algorithm, first, case.graph)
        found.append(each)
    return found


class BaselineEstimate:
    """Runs of other graphs, or usual figures, corrected by a run that was stopped."""

    def cost(self, case: Case, evidence: Estimates) -> float:
        """Nothing, where no other source knows the seconds."""
        return math.inf if any(found.runtimes for found in evidence) else 0.0

    def estimate(self, case: Case, evidence: Estimates) -> Estimate:
        """Return it, with exact iterations if there are any.

        Supersteps of a library are counted by its replay, which the run needs too.
        """
        graph, request = case.graph, case.request
        estimates, stopped = _exact(evidence), _stopped(evidence)
        if request.method.name == "replay" and isinstance(graph, Graph) and not case.local:
            estimates = estimates_of(graph, case.chain)
        if not estimates:
            workers = request.engine.workers
            estimates = [baseline_iterations(graph, each, workers) for each in case.baselines]
        if stopped is not None:
            estimates = weighted(stopped, estimates, case)
        runtimes = baseline_seconds(case, stopped, case.workloads(estimates))
        measured = stopped is not None
        more = more_samples(case, 0.0)
        if measured and not isinstance(graph, Graph):
            more = "more supersteps of the run would narrow the interval (--budget)"
        return Estimate(estimates, runtimes, case.chain, measured=measured, more=more)


def baseline_seconds(
    case: Case, stopped: engines.RunProfile | None, workloads: Sequence[engines.Workload]
) -> list[engines.RuntimeEstimate]:
    """Return baseline seconds, or those by the supersteps of a run that was stopped."""
    graph, request = case.graph, case.request
    if stopped is not None and case.runs_itself:
        return stopped_runtimes(stopped, workloads)
    # The work of a user's function on Spark is known from runs of it alone.
    known = request.method.estimate is not None and isinstance(graph, Graph)
    if request.engine.name == "spark" and known:
        free = replace(request, budget=Budget(seconds=0.0), train_ratios=None)
        spending = Spending(free.budget, 0.0)
        return request.runtime_model(graph, free, case.history, spending).estimate(workloads)
    return [
        baseline_runtime(baseline, workload, request.engine, 0.0 if number else graph.read_seconds)
        for number, (baseline, workload) in enumerate(zip(case.baselines, workloads, strict=True))
    ]


def affordable_levels(case: Case) -> list[float]:
    """Return the levels of sampling to go through, the cheapest first; none for a baseline.

    The largest that the budget affords; all of them up to that if the prediction is to stop as soon
    as it is near enough. What the user named is done, at the lowest level if need be.
    """
    request, spending = case.request, case.spending
    most = request.max_overhead
    every = [*(level for level in LEVELS if level < most), most]
    if request.budget.unlimited and request.within is None:
        return every[-1:]
    found = [level for level in every if spending.affords(cost_of_samples(case, level))]
    asked = request.baseline_would_ignore or (not case.local and request.budget.seconds > 0.0)
    if not found and (asked or sampling_seconds(case, every[0]) <= spending.left_at_most):
        found = every[:1]
    if "max_overhead" not in request.method.reads:
        return every[-1:] if found else []
    return found if request.within is not None else found[-1:]


def sampling_seconds(case: Case, level: float) -> float:
    """Return the seconds that samples of a level take on this machine, as busy as it is now."""
    graph, seconds = case.graph, 0.0
    for each in case.algorithms:
        # What accepts directed graphs is calibrated on these; in others each edge is stored twice.
        edges = graph.edges if graph.directed or each.undirected else graph.edges // 2
        seconds += sampling_of(each.name).seconds(edges, level)
    return seconds * meter.read().slowdown


def cost_of_samples(case: Case, level: float) -> float:
    """Return the seconds of samples and of what is measured beside."""
    return sampling_seconds(case, level) + survey_seconds(case, level)


def survey_seconds(case: Case, level: float) -> float:
    """Return the seconds of setup, of the first supersteps, and of samples that are run."""
    seconds = 0.0
    for baseline in case.baselines if case.local else ():
        iteration = baseline.superstep_seconds / max(baseline.iterations, 1.0)
        probing = min(PROBED_SUPERSTEPS * iteration, probing_limit(case.spending.left))
        seconds += baseline.setup_seconds + probing + _COUNTING * case.graph.edges
        if level > LEAN:  # samples are run, too: of semi-clustering most of what they take
            seconds += level * baseline.superstep_seconds
    return seconds * meter.read().slowdown


def more_samples(case: Case, level: float) -> str:
    """Say what a larger budget would buy beyond samples of a level; nothing beyond the largest."""
    most = case.request.max_overhead
    if not case.local or case.request.budget.unlimited or level >= most:
        return ""
    what = "larger samples" if level else "samples"
    seconds = readable_seconds(cost_of_samples(case, most))
    return f"about {seconds} of {what} would narrow the interval (--budget unlimited)"


def estimates_of(graph: Graph, chain: Sequence[Request]) -> list[iterations.IterationEstimate]:
    """Estimate the iterations of each algorithm of a chain.

    Parameters
    ----------
    graph : Graph
    chain : sequence of Request
        In the order in which the algorithms run.
    """
    return [
        iterations.estimate_iterations(
            part.method,
            iterations.SamplingCase(
                graph=graph,
                algorithm=part.algorithm,
                engine=_counting_engine(part),
                transform=part.transform,
                sampler=part.sampler,
                ratio=part.ratio,
                budget=iterations.EdgeBudget(
                    graph.edges, part.max_overhead, named="max_overhead" in part.named
                ),
                rng=np.random.default_rng(part.seed).spawn(3)[0],
                progress=part.progress,
            ),
        )
        for part in chain
    ]


def _counting_engine(request: Request) -> engines.Engine:
    """Return the engine that counts on samples: compiled kernels here, where there are any.

    Iterations and messages are those of the algorithm, whatever runs it; seconds are not.
    """
    engine = request.engine
    own = isinstance(engine, LocalEngine) and type(engine).run is LocalEngine.run
    if own or not runs_here(request.algorithm):
        return engine
    return LocalEngine(workers=engine.workers)


_LOADED: set[tuple[str, str, bool]] = set()


def load_compiled(graph: AnyGraph, chain: Sequence[Request]) -> None:
    """Load, or at first use build, the compiled code of the methods: on a graph of no size."""
    keys = {(part.algorithm.name, part.method.name, graph.directed) for part in chain}
    local = all(runs_here(part.algorithm) for part in chain)
    if keys <= _LOADED or not local or chain[-1].method.estimate is None:
        return
    _LOADED.update(keys)
    small = check_graph("rmat:scale=7,edge_factor=4", directed=graph.directed, seed=1)
    quiet = [
        replace(part, engine=LocalEngine(), progress=lambda text, fraction: None) for part in chain
    ]
    with suppress(JobError):  # of a user's program, which may need more than this graph has
        estimates_of(small, quiet)
