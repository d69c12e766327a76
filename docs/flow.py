"""Draws `flow.svg`, the picture in README.md: `python docs/flow.py`.

Plain SVG with two sets of colours, of which the reader's light or dark setting takes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 980, 610
STAGE, GAP, ROW = 144, 14, 124
"""Of the boxes of the engine's stages, and of the rows that they stand in."""

STYLE = """
text { font: 14px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: #1f2328 }
.name { font-weight: 600; font-size: 15px }
.small { font-size: 12.5px; fill: #59636e }
.code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12.5px }
.step { font-size: 12.5px }
.said { fill: #0a58b5 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.box { fill: #f6f8fa; stroke: #afb8c1 }
.ours { fill: #e8f1fc; stroke: #4a8fdd }
.stage { fill: #ffffff; stroke: #4a8fdd }
.plain { stroke: #59636e; fill: none; stroke-width: 1.6 }
.asked { stroke: #1f6fd1; fill: none; stroke-width: 2 }
.plain-head { fill: #59636e }
.asked-head { fill: #1f6fd1 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9aa5b1 }
  .said { fill: #8cc2ff }
  .page { fill: #0d1117; stroke: #30363d }
  .box { fill: #161b22; stroke: #484f58 }
  .ours { fill: #10243e; stroke: #3b7dd0 }
  .stage { fill: #0d1117; stroke: #3b7dd0 }
  .plain { stroke: #9aa5b1 }
  .asked { stroke: #58a6ff }
  .plain-head { fill: #9aa5b1 }
  .asked-head { fill: #58a6ff }
}
"""

GROUPS = (
    (
        "find",
        ("understand", "route", "link"),
        ("a question in any language: which database,", "columns and values; what was meant before"),
    ),
    ("write", ("write",), ("several statements", "that differ")),
    ("check", ("admit", "run"), ("guard, EXPLAIN,", "the rows themselves")),
    (
        "choose",
        ("judge", "select", "decide"),
        ("best first; leave out what does not conform;", "ask back"),
    ),
)
"""What is done, by which stages of the pipeline, and to what end."""

ROWS = (GROUPS[:2], GROUPS[2:])


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    """Words at a baseline."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle with round corners."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" class="{kind}"/>'


def arrow(x: float, y: float, to_x: float, to_y: float, kind: str, *, both: bool = False) -> str:
    """A line across or down with a head where it ends, or one at each end."""
    right, down = (to_x > x) - (to_x < x), (to_y > y) - (to_y < y)
    drawn = f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" class="{kind}"/>' + head(to_x, to_y, right, down, kind)
    return drawn + head(x, y, -right, -down, kind) if both else drawn


def head(x: float, y: float, right: int, down: int, kind: str) -> str:
    """A triangle whose tip is at a point."""
    back_x, back_y, side_x, side_y = x - 9 * right, y - 9 * down, 4.5 * down, 4.5 * right
    corners = f"{x:g} {y:g} {back_x + side_x:g} {back_y + side_y:g} {back_x - side_x:g} {back_y - side_y:g}"
    return f'<path d="M{corners}z" class="{kind}-head"/>'


def wire() -> list[str]:
    """The client, the gateway and the server; ordinary statements between them."""
    return [
        box(28, 30, 190, 96, "box"),
        text(123, 60, "your SQL client", "name"),
        text(123, 84, "psql, JDBC, psycopg,", "small"),
        text(123, 102, "a BI tool", "small"),
        box(395, 30, 190, 96, "ours"),
        text(490, 60, "gateway", "name"),
        text(490, 84, "PostgreSQL's protocol", "small"),
        text(490, 102, "on both sides", "small"),
        box(762, 30, 190, 96, "box"),
        text(857, 60, "PostgreSQL", "name"),
        text(857, 84, "as it is: nothing", "small"),
        text(857, 102, "to install there", "small"),
        arrow(218, 58, 395, 58, "plain", both=True),
        arrow(585, 58, 762, 58, "plain", both=True),
        text(306, 48, "SELECT … FROM orders", "code"),
        text(673, 48, "untouched", "small"),
        arrow(218, 98, 395, 98, "asked", both=True),
        text(306, 89, "NL: total sales by region?", "code said"),
        text(306, 117, "candidates, as rows", "small"),
    ]


def engine() -> list[str]:
    """The engine with its stages, in order."""
    drawn = [
        box(28, 196, 924, 300, "ours"),
        text(46, 222, "engine", "name", "start"),
        arrow(490, 126, 490, 196, "asked", both=True),
        text(478, 166, "the question, and who asks", "small", "end"),
    ]
    ends: list[tuple[float, float]] = []
    for number, groups in enumerate(ROWS):
        y = 252 + ROW * number
        row, places = stages_of(groups, y)
        drawn += row
        drawn += [
            arrow(end, y + 31, start, y + 31, "asked")
            for end, start in zip(places[1:-1:2], places[2::2], strict=True)
        ]
        ends += [(places[0], y + 31), (places[-1], y + 31)]
    _, (right, above), (left, under), _ = ends
    between = under - 48
    path = f"M{right:g} {above:g}H934V{between:g}H40V{under:g}H{left:g}"
    return [*drawn, f'<path d="{path}" class="asked"/>', head(left, under, 1, 0, "asked")]


def stages_of(
    groups: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]], y: float
) -> tuple[list[str], list[float]]:
    """A row of the engine's stages, and where each begins and ends."""
    drawn: list[str] = []
    places: list[float] = []
    x = 66.0
    for name, stages, why in groups:
        width = STAGE * len(stages) + GAP * (len(stages) - 1)
        drawn.append(text(x + width / 2, y, name, "small said"))
        for number, stage in enumerate(stages):
            place = x + (STAGE + GAP) * number
            drawn.append(box(place, y + 10, STAGE, 42, "stage"))
            drawn.append(text(place + STAGE / 2, y + 35, stage, "step"))
            places += [place, place + STAGE]
        drawn += [text(x + width / 2, y + 71 + 16 * line, words, "small") for line, words in enumerate(why)]
        x += width + 3 * GAP
    return drawn, places


def below() -> list[str]:
    """What the engine asks."""
    return [
        box(262, 538, 224, 52, "box"),
        text(374, 560, "language model", "name"),
        text(374, 578, "embedded, or any server", "small"),
        arrow(374, 496, 374, 538, "asked", both=True),
        arrow(857, 196, 857, 126, "asked", both=True),
        text(847, 160, "each statement is tried there first,", "small", "end"),
        text(847, 177, "read-only, as the asker", "small", "end"),
        box(512, 538, 224, 52, "box"),
        text(624, 560, "store", "name"),
        text(624, 578, "catalog, answers, choices", "small"),
        arrow(624, 496, 624, 538, "asked", both=True),
    ]


def draw() -> str:
    """The whole picture."""
    title = "A question's way from the client through the gateway and the engine's stages to rows"
    parts = [box(0.5, 0.5, WIDTH - 1, HEIGHT - 1, "page"), *wire(), *engine(), *below()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_name("flow.svg").write_text(draw(), encoding="utf-8")
