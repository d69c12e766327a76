"""Whether the schemas that a dialogue is about are still those that it began with."""

from __future__ import annotations

from engine.core.state import State
from engine.errors import StaleDialogueError

Fingerprints = tuple[tuple[str, str], ...]
"""Of each database's schema as the asker may read it, by name."""


def fingerprints(state: State) -> Fingerprints:
    """Of the databases that the candidates read, or of all that may answer where there is no candidate.

    Blocks, a hash over each schema: call it in a thread.
    """
    read = {candidate.database for candidate in state.considered}
    return tuple(
        (route.database.name, route.snapshot.fingerprint)
        for route in state.routes
        if not read or route.database.name in read
    )


def check_unchanged(state: State) -> None:
    """Raises `StaleDialogueError` (NL004) where one has changed, or is no longer among those that may answer.

    Blocks as `fingerprints` does.
    """
    now = {route.database.name: route.snapshot for route in state.routes}
    for name, before in state.dialogue.fingerprints:
        if name not in now or now[name].fingerprint != before:
            raise StaleDialogueError(
                "the question can no longer be answered",
                detail="The catalog, or what you may read, has changed since it was asked.",
                hint="Ask it again with NL: and the same words.",
            )
