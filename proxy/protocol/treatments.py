"""Prepared statements of ours that are not what the server takes them for, and how their executions are treated."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.protocol.conversation import ChosenStatement
from proxy.protocol.nl.statements import AnswerStatement, TableStatement

RowStatement = AnswerStatement | TableStatement
"""Statements whose columns are fixed."""


@dataclass(frozen=True, slots=True)
class ParameterStatement:
    """A prepared statement whose parameter at `index` (from 0) is the JSON of its rows.

    `statement` None: the client's own parameter is the question. Otherwise the parameter is hidden from the
    client, behind its own ones. `call`: it is a call of `nl.ask` inside of SQL.
    """

    index: int
    statement: RowStatement | None
    call: bool = False

    @property
    def hidden(self) -> bool:
        """Whether the client does not know of the parameter."""
        return self.statement is not None


PreparedTreatment = ParameterStatement | ChosenStatement
