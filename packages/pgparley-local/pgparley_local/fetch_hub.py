"""The model file from the hub, through the hub's own client, which goes on where a transfer was cut.

Owns the bound on reaching the hub and appending to the `.partial` file. Where the hub is, is that client's
configuration (HF_ENDPOINT). Does not judge the bytes: the digest check is the caller's. Heavy: imported when the file
is missing.
"""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, Self

from huggingface_hub import HfFileMetadata, get_hf_file_metadata, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.file_download import http_get

from pgparley_local.model_file import Limits, ModelFile, Progress

_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubError(Exception):
    """The hub did not deliver; the text says why in a few words."""


def described(model: ModelFile, limits: Limits) -> ModelFile:
    """The model with the size, and where it has none the digest, that the hub says; raises `HubError`."""
    found = _asked(model, limits)
    said = (found.etag or "").strip('"').lower()
    if not found.size:
        raise HubError("it does not say how large the file is")
    return replace(model, size=found.size, sha256=model.sha256 or (said if _SHA256.fullmatch(said) else ""))


def download(model: ModelFile, partial: Path, progress: Progress, limits: Limits) -> None:
    """Appends to `partial` until it has `model.size` bytes; what a cut transfer brought is kept.

    Raises:
        HubError: with the reason.
    """
    size = _asked(model, limits).size
    if size not in {None, model.size}:
        raise HubError("it has a file of another size")
    with _told(limits):
        _append(hf_hub_url(model.repository, model.name), model, partial, progress)


@contextmanager
def _told(limits: Limits) -> Iterator[None]:
    """Raises `HubError` for whatever the client raises."""
    try:
        yield
    except multiprocessing.TimeoutError as silent:
        raise HubError(f"not reachable (no answer within {limits.connect:g} s)") from silent
    except HfHubHTTPError as refused:
        raise HubError(f"it refuses ({_line(refused)})") from refused
    except Exception as problem:  # the client's errors have no common base class
        raise HubError(f"not reachable ({_line(problem)})") from problem


def _asked(model: ModelFile, limits: Limits) -> HfFileMetadata:
    """What the hub says of the file.

    One request, in a thread that is left behind: the client repeats a failed request for half a minute, and its
    time-out bounds neither name resolution nor the sum over a name's addresses.
    """
    with _told(limits), ThreadPool(1) as pool:
        url, seconds = hf_hub_url(model.repository, model.name), limits.connect
        return pool.apply_async(get_hf_file_metadata, (url,), {"timeout": seconds}).get(seconds)


def _append(url: str, model: ModelFile, partial: Path, progress: Progress) -> None:
    with partial.open("ab") as file:
        http_get(
            url,
            file,
            resume_size=file.tell(),
            expected_size=model.size,
            tqdm_class=_bar(model, progress),
        )


def _line(problem: Exception) -> str:
    return (str(problem) or type(problem).__name__).splitlines()[0]


def _bar(model: ModelFile, progress: Progress) -> Any:
    """A class of what the client takes for its progress bar."""

    class Bar:
        def __init__(self, *, initial: int = 0, **_others: object) -> None:
            self._done = initial

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_raised: object) -> None:
            """Nothing to close."""

        def update(self, count: int) -> None:
            """`count` bytes more."""
            self._done += count
            progress("downloading the model (bytes)", self._done, model.size)

    return Bar
