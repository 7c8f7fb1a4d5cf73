"""The command design: which runs of a job to measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from predict_graph.cli import options
from predict_graph.errors import RequestError
from predict_graph.files import check_writable
from predict_graph.reports.json_output import check_json_target, write_json
from predict_graph.reports.tables import show_table


def design(
    scale: Annotated[
        str, typer.Option(metavar="A:B", help="Smallest and largest scale, such as 0.01:0.1.")
    ],
    machines: Annotated[
        str, typer.Option(metavar="N:M", help="Fewest and most machines, such as 1:16.")
    ],
    budget: Annotated[
        float,
        typer.Option(
            help="What all runs may cost together; 1 is a run of the smallest scale on one machine."
        ),
    ],
    terms: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="ernest, masha, usl, amdahl, or terms with commas between."
        ),
    ] = "ernest",
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Write the design, for collect.")
    ] = Path("design.csv"),
    criterion: Annotated[
        str, typer.Option(help="a: coefficients; d: their joint region; i: predictions.")
    ] = "a",
    target: Annotated[
        str | None,
        typer.Option(
            metavar="S@N:M", help="Scale and machines to predict, for --criterion i: 1@8:64."
        ),
    ] = None,
    scale_steps: Annotated[int, typer.Option(help="Scales to choose from, evenly spaced.")] = 20,
    partitions: Annotated[
        int | None, typer.Option(help="Partitions of the whole data; the scale is then a fraction.")
    ] = None,
    cores_per_machine: Annotated[
        int | None, typer.Option(help="Leave out runs with fewer partitions than cores.")
    ] = None,
    cost: Annotated[str, typer.Option(help="Cost of a run: time, or machine-time.")] = "time",
    max_repeats: Annotated[int, typer.Option(help="Most runs of one point.")] = 1,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the points.")] = None,
    json: options.Json = None,
) -> None:
    """Choose the runs of a job that teach a scaling model most for a budget."""
    from predict_graph.sizing import parse_counts
    from predict_graph.sizing.measuring.designing import (
        design_summary,
        make_design,
        write_design,
    )
    from predict_graph.sizing.quantities import parse_range

    check_json_target(json)
    check_writable(out)
    if plot is not None:
        from predict_graph.pictures import check_picture

        check_picture(check_writable(plot))
    made = make_design(
        terms.split(",") if terms else [],
        parse_range(scale, "scale"),
        parse_counts(machines),
        budget,
        criterion=criterion,
        scale_steps=scale_steps,
        partitions=partitions,
        cores_per_machine=cores_per_machine,
        cost=cost,
        max_repeats=max_repeats,
        target=_target(target),
    )
    write_design(made, out)
    console = options.results(json)
    summary = design_summary(made)
    rows = [list(point.values()) for point in summary["points"]]
    columns = ["scale", "machines", "repeats", "cost"]
    show_table(console, f"design for {', '.join(made.terms)}", columns, rows)
    console.print(f"{made}: {out}", soft_wrap=True, highlight=False, markup=False)
    write_json(summary, json)
    if plot is not None:
        from predict_graph.sizing.picture import draw_design

        points = made.points
        draw_design(points["scale"], points["machines"], points["repeats"], plot)


def _target(text: str | None) -> tuple[float, list[int]] | None:
    """Return scale and machine counts of ``1@8:64``."""
    from predict_graph.sizing import parse_counts
    from predict_graph.sizing.quantities import parse_number

    if text is None:
        return None
    scale, at, machines = text.partition("@")
    if not at:
        raise RequestError(f"the target is {text!r}; accepted: SCALE@MACHINES, such as 1@8:64")
    return parse_number(scale, "scale of the target"), parse_counts(machines, "target machines")
