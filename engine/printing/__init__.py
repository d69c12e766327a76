"""What is sent to a server: the guard's tree printed anew, so that no search path and no setting decides what it means.

`printed` is the interface. Every relation, type, function, operator and collation bears its schema, every operator
that SQL hides in a word (IN, BETWEEN, CASE, USING …) is written out, and a literal reads the same under any setting.
"""

from __future__ import annotations

from engine.printing.names import (
    Kind,
    Names,
    Overload,
    Relation,
    Type,
    Uses,
    bare_names,
    relation_names,
    uses,
)
from engine.printing.statement import Printed, PrintingError, printed

__all__ = [
    "Kind",
    "Names",
    "Overload",
    "Printed",
    "PrintingError",
    "Relation",
    "Type",
    "Uses",
    "bare_names",
    "printed",
    "relation_names",
    "uses",
]
