"""The campaign of damaged files; see the package.

python -m benchmarks.robustness [--files 100000] [--seed 1] [--only FORMAT,...]
    [--out docs/studies/robustness.md]
"""

from __future__ import annotations

import itertools
import platform
import sys
import time
from collections import Counter

from benchmarks.common import study_parser, table, write
from benchmarks.robustness.campaign import BAD, SILENCE, Tally, run
from benchmarks.robustness.formats import FORMATS


def main() -> None:
    parser = study_parser(__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="names of formats, with commas between")
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else [form.name for form in FORMATS]
    forms = [place for place, form in enumerate(FORMATS) if form.name in names]
    begun = time.monotonic()

    def written(tallies: dict[int, Tally], finds: list[str], used: float) -> None:
        done = sum(tally.outcomes.total() for tally in tallies.values())
        if asked.out or done == asked.files:
            text = report(tallies, finds)
            said = (
                f"{done:,} of {asked.files:,} files, seed {asked.seed}, {time.strftime('%Y-%m-%d')}"
            )
            taken = (time.monotonic() - begun) / 60
            text += [
                f"{said}, Python {platform.python_version()}: "
                f"{used / 60:.0f} minutes of processor time, {taken:.0f} by the clock."
            ]
            write(asked.out, text, "campaign")

    finds = run(cases_of(forms, asked.files), asked.seed, written)
    sys.exit(1 if finds else 0)


def cases_of(forms: list[int], files: int) -> list[tuple[int, int]]:
    """Return so many cases: round after round, each format as often as it says."""
    every = (
        (form, number)
        for number in itertools.count()
        for form in forms
        if number % FORMATS[form].every == 0
    )
    return list(itertools.islice(every, files))


def report(tallies: dict[int, Tally], finds: list[str]) -> list[str]:
    """Return what a campaign found."""
    total: Counter[str] = sum((tally.outcomes for tally in tallies.values()), Counter())
    slowest = max(tally.slowest for tally in tallies.values())
    peak = max(tally.peak for tally in tallies.values())
    lines = [
        f"In all: {total['read']:,} read, {total['refused']:,} refused in a sentence; "
        + ", ".join(f"{total[name]:,} {name}" for name in BAD)
        + f". Slowest file {slowest:.2f} s (a hang: {SILENCE:g} s); peak memory "
        f"{peak / 1e6:.0f} MB.",
        "",
    ]
    rows = []
    for form, tally in sorted(tallies.items()):
        counts = [tally.outcomes.total(), tally.outcomes["read"], tally.outcomes["refused"]]
        counts.append(sum(tally.outcomes[name] for name in BAD))
        rows.append([FORMATS[form].name, *map(str, counts), f"{tally.slowest:.2f}"])
    lines += table(["format", "files", "read", "refused", "finds", "slowest, s"], rows)
    if finds:
        lines += ["", "## Finds", "", *(f"- {find}" for find in finds[:200])]
    return [*lines, ""]


if __name__ == "__main__":
    main()
