"""Two plots as SVG text: points with names, and curves. No dependency, logarithmic axes where the data spans decades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Axis", "Series", "curves", "points"]

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 36, 44, 56
LINE, LETTER = 15, 6.4
"""height of a line of text, and width of a letter, px"""
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8d6a9f", "#b08900", "#3d5a80")


@dataclass(frozen=True, slots=True)
class Axis:
    """Attributes:
    title: with the unit.
    low, high: the ends, above zero.
    """

    title: str
    low: float
    high: float

    @classmethod
    def around(cls, title: str, values: Sequence[float]) -> Axis:
        """An axis over whole decades around the values, which are above zero."""
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(title, 10.0**low, 10.0 ** max(high, low + 1))

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high one."""
        return (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))

    def decades(self) -> list[float]:
        return [10.0**n for n in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]


@dataclass(frozen=True, slots=True)
class Series:
    """A named line of (x, y)."""

    name: str
    dots: Sequence[tuple[float, float]]


def points(title: str, x: Axis, y: Axis, dots: Sequence[tuple[str, float, float]]) -> str:
    """One dot for each (name, x, y), its name beside it, moved down where another stands there."""
    marks: list[str] = []
    placed: list[tuple[float, float, float]] = []
    for number, (name, horizontal, vertical) in enumerate(sorted(dots, key=lambda dot: -dot[2])):
        cx, cy = _x(x, horizontal), _y(y, vertical)
        # A name stands on the side where there is room for it.
        right = cx + 12 + LETTER * len(name) < WIDTH
        begin = cx + 12 if right else cx - 12 - LETTER * len(name)
        end, at = begin + LETTER * len(name), cy
        for other_begin, other_end, other in sorted(placed, key=lambda place: place[2]):
            if begin < other_end and other_begin < end and abs(at - other) < LINE:
                at = other + LINE
        placed.append((begin, end, at))
        edge = begin - 2 if right else end + 2
        marks.append(f'<line x1="{cx:.1f}" y1="{cy:.1f}" x2="{edge:.1f}" y2="{at:.1f}" stroke="#999"/>')
        marks.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="5" fill="{COLOURS[number % len(COLOURS)]}"/>')
        marks.append(_text(begin if right else end, at + 4, name, "start" if right else "end"))
    return _frame(title, x, y, marks)


def curves(title: str, x: Axis, y: Axis, lines: Sequence[Series]) -> str:
    """One line for each series; the names stand at the bottom right, which rising lines leave free."""
    drawn: list[str] = []
    width, height = 44 + LETTER * max(len(line.name) for line in lines), 20 * len(lines) + 10
    left, top = WIDTH - RIGHT - 8 - width, HEIGHT - BOTTOM - 8 - height
    names = [f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" fill="#fff" stroke="#ddd"/>']
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{_x(x, a):.1f},{_y(y, b):.1f}" for a, b in line.dots)
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        names.append(f'<rect x="{left + 10:.1f}" y="{top + 13 + 20 * number}" width="14" height="4" fill="{colour}"/>')
        names.append(_text(left + 32, top + 19 + 20 * number, line.name, "start"))
    return _frame(title, x, y, [*drawn, *names])


def _x(axis: Axis, value: float) -> float:
    return LEFT + axis.place(min(max(value, axis.low), axis.high)) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.place(min(max(value, axis.low), axis.high)) * (HEIGHT - TOP - BOTTOM)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _text(x: float, y: float, text: str, anchor: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def _frame(title: str, x: Axis, y: Axis, marks: Sequence[str]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(WIDTH / 2, 24, title, "middle", ' font-size="15"'),
    ]
    for value in x.decades():
        parts.append(f'<line x1="{_x(x, value):.1f}" y1="{TOP}" x2="{_x(x, value):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(_text(_x(x, value), HEIGHT - BOTTOM + 18, _number(value), "middle"))
    for value in y.decades():
        parts.append(f'<line x1="{LEFT}" y1="{_y(y, value):.1f}" x2="{WIDTH - RIGHT}" y2="{_y(y, value):.1f}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 8, _y(y, value) + 4, _number(value), "end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_text(WIDTH / 2, HEIGHT - 14, x.title, "middle"))
    parts.append(_text(18, middle, y.title, "middle", f' transform="rotate(-90 18 {middle:.1f})"'))
    return "\n".join([*parts, *marks, "</svg>"]) + "\n"
