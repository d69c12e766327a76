"""What is known for a question, less what a service is not to learn: personal data that the question does not name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.link.match import EQUAL
from engine.link.missing_values import compared_literals
from engine.values.elements import ValueLink
from engine.values.learned import Example
from engine.values.state import Route
from schema_catalog.types import ColumnKey, Snapshot


def for_service(route: Route) -> Route:
    """`route` less the values and examples of personal data that no prompt may show. Blocks: call it in a thread."""
    withheld = route.withheld
    if not withheld:
        return route
    values = tuple(each for each in route.values if each.column not in withheld or is_named(each))
    kept = tuple(
        each for each in route.learned.examples if not _compares(each, withheld.keys(), route.snapshot)
    )
    return replace(route, values=values, learned=replace(route.learned, examples=kept))


def is_named(link: ValueLink) -> bool:
    """Whether the question has the value itself."""
    return bool(link.span) and link.similarity >= EQUAL


def _compares(example: Example, columns: Collection[ColumnKey], snapshot: Snapshot) -> bool:
    return any(each.column in columns for each in compared_literals(example.sql, snapshot))
