"""The attributes of tables and columns as forms ask for them.

Owns what people call them. Which values may be said `nl_catalog.set_attribute` decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from schema_catalog.types import DeclaredKey, Sensitivity, Status


@dataclass(frozen=True, slots=True)
class Attribute:
    """`name`: as the function takes it. `choices`: its values; none where it is typed, in the words of `example`."""

    name: str
    label: str
    choices: tuple[str, ...] = ()
    example: str = ""
    of_tables: bool = False


ATTRIBUTES = (
    Attribute("status", "Status", tuple(Status), of_tables=True),
    Attribute("sensitivity", "Sensitivity", tuple(Sensitivity), of_tables=True),
    Attribute("unit", "Unit", example="such as EUR"),
    Attribute("time_zone", "Time zone", example="such as Europe/Berlin"),
    Attribute("key", "Key", tuple(DeclaredKey)),
)
"""All of them, in the order of their forms."""


@dataclass(frozen=True, slots=True)
class Stated:
    """An attribute of one element; `value` is empty where nothing is said."""

    attribute: Attribute
    value: str

    @property
    def words(self) -> str:
        """What a list shows of it."""
        return f"{self.attribute.label.lower()} {self.value}" if self.value else ""
