"""On whose behalf a session asks (`nl.on_behalf`), and which logins may say it.

What they say proves nothing: it is for the record, and for counting. Owns the refusals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.values.errors import InvalidSettingError, NLError, NotPermittedError, UnsupportedError
from proxy.protocol.nl.statements import SettingChange

ON_BEHALF = "on_behalf"
_LONGEST = 200

_POOLED = UnsupportedError(
    "nl.on_behalf cannot be said behind a transaction pooler",
    detail="Its connections serve one client after another: what one of them says would count for the next.",
    hint="Connect to the gateway itself, or through a pool in session mode.",
)
_OTHER = NotPermittedError(
    "this session asks on behalf of somebody else already",
    hint="DISCARD ALL or RESET nl.on_behalf ends that; what was said when connecting holds to the session's end.",
)
_LOCAL = UnsupportedError(
    "nl.on_behalf holds for a session, and not for a transaction", hint="Write SET nl.on_behalf = 'person'."
)


@dataclass(frozen=True, slots=True)
class BehalfRules:
    """`logins`: those that may say it. `pooled`: clients may share connections, a transaction each."""

    logins: frozenset[str] = frozenset()
    pooled: bool = False

    def check(self, login: str, person: str) -> None:
        """Raises `NLError` where `login` may not ask on behalf of `person`."""
        if login not in self.logins:
            raise NotPermittedError(
                f'"{login}" may not ask on behalf of others',
                hint="The operator names those that may: on_behalf_users in [gateway].",
            )
        if self.pooled:
            raise _POOLED
        if not person.strip() or len(person) > _LONGEST or not person.isprintable():
            raise InvalidSettingError.of(
                ON_BEHALF, person, f"It is a name of at most {_LONGEST} characters that can be printed."
            )

    def refusal(self, login: str, changes: Sequence[SettingChange], now: str, initial: str) -> NLError | None:
        """Why the changes of `login`'s settings are refused; `now`, `initial`: the person, empty for none."""
        for change in changes:
            if change.name is None or (change.name == ON_BEHALF and change.value is None):
                now = initial
            elif change.name == ON_BEHALF and change.value is not None:
                try:
                    self.check(login, change.value)
                except NLError as problem:
                    return problem
                if change.local or now not in ("", change.value):
                    return _LOCAL if change.local else _OTHER
                now = change.value
        return None


NOBODY_ELSE = BehalfRules()
"""No login may."""
