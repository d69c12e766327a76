"""What `make docs` does beside mkdocs: README.md is the first page, and links out of docs/ become names of files.

A link to a file of the repository that is not there stops the build, as mkdocs' own checks do for links within docs/.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)]*)?\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Adds README.md as index.md, its links as seen from docs/."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - an environment of its own has it

    text = (ROOT / "README.md").read_text("utf-8").replace("](docs/", "](")
    text = re.sub(r"\]\((?=CONTRIBUTING|CHANGELOG|SECURITY|LICENSE|NOTICE)", "](../", text)
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with links out of docs/, and to folders, as names of files."""
    here = ROOT / "docs" / Path(page.file.src_uri).parent
    parts = _FENCE.split(markdown)
    return "".join(
        part if part.startswith("```") else _LINK.sub(lambda found: _within(found, here), part)
        for part in parts
    )


def _within(found: re.Match[str], here: Path) -> str:
    image, words, target, _ = found.groups()
    if image or "://" in target:
        return found[0]
    file = (here / target).resolve()
    if not file.exists():
        raise FileNotFoundError(f"a link leads to {target}, which is not there")
    name = file.relative_to(ROOT).as_posix()
    if file.is_dir() or not name.startswith("docs/"):
        return words if name in words or words.strip("`") == file.name else f"{words} (`{name}`)"
    return found[0]
