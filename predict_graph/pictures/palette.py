"""Colours for colour-blind readers, on light and dark backgrounds.

A colour has one meaning in all pictures; an interval is a tint of its value, and limits and choices
have the colour of the text. Every colour has a contrast of 4.5 or more to its background (WCAG 2.1,
level AA for text). Lines also differ in dashes or markers, which the legend shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


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
