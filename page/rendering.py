"""Templates to HTML: text is always escaped, and a name that a template does not get is an error.

Owns the environment, and what every page shows: who is signed in, where one can go, what was just done.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined

from page.actions import ACTIONS
from page.elements import Path
from page.schema_graph import HEIGHT, WIDTH, noted
from page.sessions import Notice

NAVIGATION = (
    ("/", "Databases"),
    ("/health", "Health"),
    ("/questions", "Questions"),
    ("/learned", "Learned"),
    ("/drift", "Drift"),
    ("/suggestions", "Suggestions"),
    ("/models", "Models"),
    ("/coverage", "Coverage"),
)
"""Where the head of every page leads."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is the same on every page. `here`: its own address, to come back to; `role` is empty before signing in.

    `asks`: questions can be tried.
    """

    here: str
    role: str = ""
    token: str = ""
    admin: bool = False
    changes: bool = False
    notice: Notice | None = None
    asks: bool = False


class Renderer:
    """The templates of `page/templates`."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("page"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals |= {
            "navigation": NAVIGATION,
            "actions": ACTIONS,
            "address": element_address,
            "path_of": Path,
            "moment": moment,
            "noted": noted,
            "box": {"width": WIDTH, "height": HEIGHT},
            "query": query,
        }

    def page(self, template: str, frame: Frame, **values: Any) -> str:
        """The HTML of a page."""
        return self._environment.get_template(f"{template}.html").render(frame=frame, **values)


def element_address(path: Path) -> str:
    """The address of an element's page."""
    kind = "column" if path.column else "table" if path.table else "database"
    return query(f"/{kind}", **path.parts)


def query(path: str, **values: str) -> str:
    """`path` with a query string."""
    return f"{path}?{urlencode(values)}" if values else path


def moment(value: datetime | None) -> str:
    """A time as people read it, in UTC where the server says no other zone."""
    return "" if value is None else f"{value:%Y-%m-%d %H:%M}"
