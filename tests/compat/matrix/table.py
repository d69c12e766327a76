"""Writes the matrix into its page, between two markers; the words around them are the page's own."""

from __future__ import annotations

from pathlib import Path

_BEGIN = "<!-- matrix: begin -->"
_END = "<!-- matrix: end -->"
_SIGNS = {"passed": "yes", "failed": "**no**", "skipped": "skipped"}


def write(page: Path, outcomes: dict[tuple[str, str], tuple[str, str]]) -> None:
    """Replaces what stands between the markers of `page`."""
    text = page.read_text("utf-8")
    before, rest = text.split(_BEGIN)
    _, after = rest.split(_END)
    page.write_text(f"{before}{_BEGIN}\n{rendered(outcomes)}{_END}{after}", "utf-8")


def rendered(outcomes: dict[tuple[str, str], tuple[str, str]]) -> str:
    """A Markdown table, a row a client, a column a case; below it, what was skipped and why."""
    clients = list(dict.fromkeys(client for client, _ in outcomes))
    cases = list(dict.fromkeys(case for _, case in outcomes))
    lines = ["| client | " + " | ".join(cases) + " |", "|---|" + "---|" * len(cases)]
    for client in clients:
        cells = [_SIGNS[outcomes[client, case][0]] if (client, case) in outcomes else "" for case in cases]
        lines.append(f"| {client} | " + " | ".join(cells) + " |")
    passed = sum(outcome == "passed" for outcome, _ in outcomes.values())
    lines += [
        "",
        f"{passed} of {len(outcomes)} cases pass. An empty cell: the client has nothing of the kind.",
    ]
    skipped = sorted(
        {(client, why) for (client, _), (outcome, why) in outcomes.items() if outcome == "skipped"}
    )
    lines += [f"- {client}: {why.removeprefix('Skipped: ')}" for client, why in skipped]
    return "\n".join(lines) + "\n"
