"""The layout of a schema and the marks of the plot."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from page.coverage import LEFT, SIZE, TOP, CoverageLine, marks
from page.schema_graph import HEIGHT, MOST, WIDTH, Graph, Join, Name, schema_graph


def named(word: str) -> Name:
    return ("public", word)


def joined(*pairs: str) -> list[Join]:
    return [
        Join(named(one), named(other), f"{one} to {other}")
        for one, other in (pair.split(">") for pair in pairs)
    ]


def rows(graph: Graph) -> dict[str, int]:
    """The row of each table, from above."""
    levels = sorted({box.y for box in graph.boxes})
    return {box.name[1]: levels.index(box.y) for box in graph.boxes}


def test_a_table_stands_below_what_it_refers_to_and_of_many_those_with_most_joins_are_drawn() -> None:
    graph = schema_graph([named(each) for each in "abcde"], joined("b>a", "c>b", "c>a", "d>a"))
    assert rows(graph) == {"a": 0, "b": 1, "d": 1, "c": 2, "e": 3}
    assert [line.words for line in graph.lines] == ["b to a", "c to b", "c to a", "d to a"]
    tables = [named(f"t{number:03}") for number in range(MOST + 20)]
    graph = schema_graph(tables, [Join(tables[-1], tables[-2], "x")])
    assert (len(graph.boxes), graph.left_out, len(graph.lines)) == (MOST, 20, 1)


@given(st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=60), st.integers(1, 26))
def test_boxes_never_overlap_and_stand_inside(pairs: list[tuple[int, int]], count: int) -> None:
    tables = [named(f"a_table_with_a_long_name_{number}") for number in range(count)]
    joins = [Join(tables[one], tables[other], "") for one, other in pairs if max(one, other) < count]
    graph = schema_graph(tables, joins)
    assert len({(box.x, box.y) for box in graph.boxes}) == count
    for box in graph.boxes:
        assert 0 <= box.x <= graph.width - WIDTH
        assert 0 <= box.y <= graph.height - HEIGHT
        for other in graph.boxes:
            assert box is other or abs(box.x - other.x) >= WIDTH or abs(box.y - other.y) >= HEIGHT


def crossed(path: str, graph: Graph) -> set[str]:
    """The boxes that a path touches: sampled, 24 points of each curve."""
    points: list[tuple[float, float]] = []
    for command, numbers in re.findall(r"([MCV])([^MCV]+)", path):
        values = [float(each) for each in numbers.split()]
        if command == "M":
            points.append((values[0], values[1]))
        elif command == "V":
            x, y = points[-1]
            points += [(x, y + (values[0] - y) * step / 24) for step in range(1, 25)]
        else:
            (x0, y0), (x1, y1, x2, y2, x3, y3) = points[-1], values
            for t in (step / 24 for step in range(1, 25)):
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                points.append(
                    (
                        sum(w * x for w, x in zip(weights, (x0, x1, x2, x3), strict=True)),
                        sum(w * y for w, y in zip(weights, (y0, y1, y2, y3), strict=True)),
                    )
                )
    return {
        box.name[1]
        for box in graph.boxes
        for x, y in points
        if box.x <= x <= box.x + WIDTH and box.y <= y <= box.y + HEIGHT
    }


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=30, unique=True))
def test_a_join_touches_its_own_two_tables_alone(pairs: list[tuple[int, int]]) -> None:
    tables = [named(f"t{number}") for number in range(15)]
    joins = [Join(tables[one], tables[other], f"t{one} t{other}") for one, other in pairs if one != other]
    graph = schema_graph(tables, joins)
    for drawn in graph.lines:
        assert crossed(drawn.path, graph) == set(drawn.words.split())
        assert all(0 <= float(x) <= graph.width for x in re.findall(r"[ MC](\d+) \d+", drawn.path))


def line(promised: float, kept: int, possible: int) -> CoverageLine:
    share = kept / max(possible, 1)
    return CoverageLine(5, None, promised, 9, 9, kept, possible, share - 0.05, share + 0.02, used=True)


def test_marks_stand_where_promise_and_observation_say() -> None:
    kept, missed = marks([line(0.9, 100, 100), line(0.75, 70, 100), line(0.9, 0, 0), line(0.2, 5, 10)])
    assert (kept.x, kept.y, kept.kept) == (LEFT + 0.8 * SIZE, TOP, True)
    assert (missed.x, missed.y, missed.kept) == (LEFT + 0.5 * SIZE, TOP + 0.6 * SIZE, False)
    assert missed.low > missed.y > missed.high
    assert "promised 75%, observed 70.0% (70 of 100)" in missed.words
