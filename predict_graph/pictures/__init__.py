"""Plots for `--plot`, notebooks and reports, drawn from numbers alone."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError, check_installed
from predict_graph.files import written_beside
from predict_graph.printable import printable


@dataclass(frozen=True)
class Palette:
    """The colours of pictures and pages, on a light background.

    Hues of Okabe and Ito (jfly.uni-koeln.de/color, 2008), darkened until the contrast suffices;
    ``page.html.jinja`` has them lightened, for dark screens.

    Parameters
    ----------
    paper, ink, muted, rule : str
        Background, text, secondary text, and lines of tables and grids.
    predicted, actual, evidence : str
        Predictions; measurements of real runs; samples and other evidence.
    part1, part2 : str
        Parts of a whole, such as phases; with `muted` and `ink`.
    """

    paper: str = "#fffffe"
    ink: str = "#1b1b1b"
    muted: str = "#595959"
    rule: str = "#d8d8d8"
    predicted: str = "#0063ab"
    actual: str = "#b23f00"
    evidence: str = "#00735a"
    part1: str = "#96377a"
    part2: str = "#7a5c00"

    def named(self) -> Mapping[str, str]:
        """Return the colours by their CSS variables.

        Examples
        --------
        >>> LIGHT.named()["--paper"]
        '#fffffe'
        """
        return {f"--{name}": color for name, color in asdict(self).items()}


LIGHT = Palette()


_WIDTH, _HEIGHT = 4.2, 2.9  # inches; limits the width so that text is readable at 360 pixels
_COLORS = {
    **dict.fromkeys(("text.color", "axes.labelcolor"), LIGHT.ink),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), LIGHT.muted),
    **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), LIGHT.muted),
    **dict.fromkeys(("figure.facecolor", "savefig.facecolor"), LIGHT.paper),
    "grid.color": LIGHT.rule,
}
_STYLE = [Path(__file__).with_name("pictures.mplstyle"), _COLORS]


class Values(NamedTuple):
    """Drawn values, in the units of the axes, which a page shows under the pointer.

    Parameters
    ----------
    names : str or sequence of str
    x, y : array-like
        Positions; of a picture with named rows `x` has the values.
    low, high : array-like, optional
        Intervals of the values.
    left : array-like, optional
        Of bars: where they start.
    """

    names: str | Sequence[str]
    x: npt.ArrayLike
    y: npt.ArrayLike
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    left: npt.ArrayLike | None = None


@dataclass(frozen=True)
class Picture:
    """One panel of a figure; `draw` draws it on axes and returns the values of the marks."""

    title: str
    text: str
    draw: Callable[[Any], Sequence[Values]]
    height: float = 1.0


def draw_together(pictures: Sequence[Picture], title: str, path: Path | None) -> Any:
    """Draw panels side by side, and save them if there is a path."""
    check_picture(path)
    if not pictures:
        raise RequestError(f"there is nothing to draw of {title}")
    import matplotlib.style as styles
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    across = min(len(pictures), 2 if len(pictures) in (2, 4) else 3)
    down = -(-len(pictures) // across)

    class Drawing(Figure):
        def _repr_png_(self) -> bytes:
            """Show it in a notebook, where pyplot, which would, may not be imported."""
            target = io.BytesIO()
            self.savefig(target, format="png")
            return target.getvalue()

    with styles.context(_STYLE):
        size = (_WIDTH * across, _HEIGHT * down + 0.5)
        layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
        figure = Drawing(figsize=size, layout=layout)
        for place, picture in enumerate(pictures, 1):
            axes = figure.add_subplot(down, across, place)
            axes.set_title(picture.title)
            picture.draw(axes)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11.5)
        _show_controls(figure)
        if path is not None:
            with written_beside(path) as beside:
                figure.savefig(beside, dpi=150)
    return figure


def _show_controls(figure: Any) -> None:
    """Write the control characters of all texts out: of labels, which come from files, as well.

    The names of rows are not there yet: an axis makes their texts as it is drawn.
    """
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if words := text.get_text():  # else of an axis, which comes later
            text.set_text(printable(words))


def svg_of(picture: Picture, name: str) -> str:
    """Return a panel as SVG for a page, with the page's colour variables."""
    import matplotlib.style as styles
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    target = io.StringIO()
    with styles.context(_STYLE):
        # With the resolution of SVG.
        figure = Figure(figsize=(_WIDTH, _HEIGHT * picture.height), layout="constrained", dpi=72)
        drawn = picture.draw(figure.subplots())
        _show_controls(figure)
        FigureCanvasSVG(figure).print_svg(target, metadata={"Date": None})
    return _for_page(target.getvalue(), picture.text, name, _marks(figure, drawn))


def _marks(figure: Any, drawn: Sequence[Values]) -> str:
    """Return drawn values as JSON, after the label, scale and place in the SVG of each axis."""
    axes, height = figure.axes[0], figure.bbox.height
    (left, low), (right, high) = axes.bbox.corners()[[0, 3]]
    sides = [
        (axis.get_label_text().partition(" (")[0], axis.get_scale(), *axis.get_view_interval(), *at)
        for axis, at in ((axes.xaxis, (left, right)), (axes.yaxis, (height - low, height - high)))
    ]
    series = [
        [np.vectorize(printable)(names).tolist(), *(np.asarray(each).tolist() for each in rest)]
        for names, *rest in drawn
        if all(each is None or np.isfinite(each).all() for each in rest)
    ]
    return json.dumps([sides, series], separators=(",", ":"))


def _for_page(text: str, said: str, name: str, marks: str) -> str:
    """Return matplotlib's SVG without the parts that a page does not need."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    # The background of the figure, which the page draws.
    body = re.sub(r'<g id="patch_1">.*?</g>', "", body, count=1, flags=re.DOTALL)
    size = re.search(r'viewBox="([^"]+)"', body)
    assert size is not None  # every SVG of matplotlib has one
    inner = body[body.index(">") + 1 :]
    used = set(re.findall(r"#([A-Za-z][\w.-]*)", inner))
    inner = re.sub(
        r' id="([^"]*)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", inner
    )
    inner = re.sub(r"(url\(|href=\")#", rf"\1#{name}-", inner).replace("xlink:href", "href")
    for variable, color in LIGHT.named().items():
        inner = inner.replace(color, f"var({variable})")
    inner = inner.replace("'DejaVu Sans'", "inherit").replace('"DejaVu Sans"', "inherit")
    return (
        f'<svg viewBox="{size[1]}" role="img" aria-labelledby="{name}-text" '
        f'data-marks="{escape(marks)}">'
        f'<title id="{name}-text">{escape(printable(said))}</title>{inner}'
    )


def check_picture(path: Path | None) -> None:
    """Reject a path that cannot be plotted to."""
    check_installed("matplotlib", "drawing", extra="plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    accepted = set(FigureCanvasAgg.get_supported_filetypes())
    if path is not None and path.suffix.lower().lstrip(".") not in accepted:
        raise RequestError(
            f"cannot draw {path}; accepted: a name in .{', .'.join(sorted(accepted))}"
        )
