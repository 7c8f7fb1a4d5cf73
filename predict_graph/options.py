"""The options of a prediction, declared once.

The signatures of :func:`~predict_graph.predict` and :func:`~predict_graph.validate`, the command
line and its help have the same names, defaults and texts; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One option of a prediction."""

    name: str
    summary: str
    default: str
    metavar: str | None = None


OPTIONS = (
    Option(
        "method",
        "How iterations are estimated: completion, rooted, published or a registered one.",
        "the best for the algorithm; published where a sampler or transform is given",
    ),
    Option(
        "sampler",
        "Sampler of the sample runs, for methods that walk.",
        "brj",
    ),
    Option(
        "ratio",
        "Vertices of a sample / vertices of the graph, in (0, 1].",
        "0.1",
    ),
    Option(
        "train_ratios",
        "Sampling ratios of the runs that train the cost model, two or more in (0, 1].",
        "0.05,0.1,0.15,0.2 where they are needed",
        "R,R,…",
    ),
    Option(
        "transform",
        "Transform function of the convergence threshold, for methods that walk.",
        "the rule for the kind of convergence",
    ),
    Option(
        "cost_model",
        "Cost model whose regression gives the seconds.",
        "forward-nnls, as one source beside the others",
    ),
    Option(
        "max_overhead",
        "Edges of all samples / edges of the graph, at most.",
        "0.6",
    ),
    Option(
        "probe",
        "Whether the cost of an edge is measured on a few rows of the graph.",
        "yes, where the engine can",
    ),
    Option(
        "train_machines",
        "Machine counts of the sample runs on a cluster, from 1 to 4096.",
        "1, 2, and 4 for 8 machines or more",
        "M,M,…",
    ),
    Option(
        "budget",
        "What the prediction may cost: a share of the predicted run, a time, or none for no limit.",
        "the larger of 2 s and 5% of the run, at most 2 min; none where options are given",
        "5%|30s|none",
    ),
    Option(
        "within",
        "Stop as soon as the interval of the runtime is so narrow, within the budget.",
        "as near as the budget allows",
        "10%",
    ),
)
"""In the order of the signatures."""


def option(name: str) -> Option:
    """Return the declaration of an option."""
    return next(each for each in OPTIONS if each.name == name)
