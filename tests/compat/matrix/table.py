"""Writes the matrix into its page, between two markers; the words around them are the page's own."""

from __future__ import annotations

from pathlib import Path

_BEGIN = "<!-- matrix: begin -->"
_END = "<!-- matrix: end -->"


def write(page: Path, outcomes: dict[tuple[str, str], tuple[str, str]]) -> None:
    """Replaces what stands between the markers of `page`."""
    text = page.read_text("utf-8")
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    page.write_text(f"{before}{_BEGIN}\n{rendered(outcomes)}{_END}{after}", "utf-8")


def rendered(outcomes: dict[tuple[str, str], tuple[str, str]]) -> str:
    """A Markdown table: clients with their cases, those marked that did not pass; below it, why one was skipped."""
    clients: dict[str, list[str]] = {}
    for client in dict.fromkeys(client for client, _ in outcomes):
        cases = [
            case if outcome == "passed" else f"**{case}: {outcome}**"
            for (whose, case), (outcome, _) in outcomes.items()
            if whose == client
        ]
        clients.setdefault(", ".join(cases), []).append(client)
    lines = ["| client | cases that pass |", "|---|---|"]
    lines += [f"| {'; '.join(same)} | {cases} |" for cases, same in clients.items()]
    passed = sum(outcome == "passed" for outcome, _ in outcomes.values())
    lines += [
        "",
        f"{passed} of {len(outcomes)} cases pass. A missing case is one that the client does not have.",
    ]
    skipped = sorted(
        {(client, why) for (client, _), (outcome, why) in outcomes.items() if outcome == "skipped"}
    )
    lines += [f"- {client}: {why.removeprefix('Skipped: ')}" for client, why in skipped]
    return "\n".join(lines) + "\n"
