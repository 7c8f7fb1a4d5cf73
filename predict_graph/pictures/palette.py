"""Colours for colour-blind readers, on light and dark backgrounds.

Every colour has a contrast of 4.5 or more to its background (WCAG 2.1, level AA for text). Lines
also differ in dashes or markers, which the legend shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """The colours of a page."""

    paper: str
    ink: str
    muted: str
    rule: str
    series: tuple[str, ...]

    def named(self) -> Mapping[str, str]:
        """Return the colours by their CSS variables.

        Examples
        --------
        >>> LIGHT.named()["--paper"]
        '#fffffe'
        """
        names = {"--paper": self.paper, "--ink": self.ink, "--muted": self.muted}
        names["--rule"] = self.rule
        return names | {f"--series-{n}": color for n, color in enumerate(self.series, 1)}


# Hues of Okabe and Ito (jfly.uni-koeln.de/color, 2008): blue, vermilion, green, purple, ochre;
# darkened, or lightened, until the contrast suffices.
LIGHT = Palette(
    "#fffffe",
    "#1b1b1b",
    "#595959",
    "#d8d8d8",
    ("#0063ab", "#b23f00", "#00735a", "#96377a", "#7a5c00"),
)
DARK = Palette(
    "#15181b",
    "#ececed",
    "#a9aeb3",
    "#3b4045",
    ("#6cb6f5", "#f7995c", "#45c9a3", "#e39bcd", "#dcc04b"),
)
