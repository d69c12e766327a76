"""The model file from the hub: one HTTP GET, resumed by Range where a transfer was cut.

Owns opening the connection within a bound, appending to the `.partial` file and the decision whether another
attempt makes sense. Does not judge the bytes: the digest check is the caller's.
"""

from __future__ import annotations

import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from engine.llm.model_file import Limits, ModelFile, Progress

_T = TypeVar("_T")
_CHUNK = 1 << 20


class HubError(Exception):
    """The hub did not deliver; the text says why in a few words."""


class _CutError(Exception):
    """The transfer broke off: what arrived is kept, another attempt goes on from there."""


def download(model: ModelFile, partial: Path, progress: Progress, limits: Limits) -> None:
    """Appends to `partial` until it has `model.size` bytes.

    A hub that cannot be reached, or that refuses, is given up at once; one that was cut is asked again,
    `limits.attempts` times in all.

    Raises:
        HubError: with the reason.
    """
    for attempt in range(1, limits.attempts + 1):
        try:
            _append(model, partial, progress, limits)
        except _CutError as cut:
            if attempt == limits.attempts:
                raise HubError(f"the transfer was cut {attempt} times ({cut})") from cut
        else:
            return


def _append(model: ModelFile, partial: Path, progress: Progress, limits: Limits) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    with _open(model.url, have, limits) as response:
        start = _start(response, have, model.size)
        with partial.open("r+b" if start else "wb") as file:
            file.truncate(start)
            file.seek(start)
            done = start
            while chunk := _read(response):
                file.write(chunk)
                done += len(chunk)
                progress("downloading the model (bytes)", done, model.size)
    if done < model.size:
        raise _CutError(f"{done} of {model.size} bytes")


def _open(url: str, have: int, limits: Limits) -> http.client.HTTPResponse:
    if not url.startswith(("https://", "http://")):
        raise HubError(f"not a web address: {url}")
    headers = {"Range": f"bytes={have}-"} if have else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the scheme was checked above

    def open_url() -> http.client.HTTPResponse:
        response: http.client.HTTPResponse = urllib.request.urlopen(  # noqa: S310 - the scheme was checked above
            request, timeout=limits.stall
        )
        return response

    try:
        return _within(limits.connect, open_url)
    except urllib.error.HTTPError as refused:
        with refused:
            raise HubError(f"it answers {refused.code} {refused.reason}") from refused
    except urllib.error.URLError as unreachable:
        raise HubError(f"not reachable ({unreachable.reason})") from unreachable
    except (OSError, http.client.HTTPException) as unreachable:
        raise HubError(f"not reachable ({unreachable or type(unreachable).__name__})") from unreachable


def _start(response: http.client.HTTPResponse, have: int, size: int) -> int:
    """Where in the file the body begins. What the response says of the whole file's size has to fit."""
    if response.status == HTTPStatus.PARTIAL_CONTENT:
        expected = f"bytes {have}-{size - 1}/{size}"
        if response.headers.get("Content-Range") != expected:
            raise HubError("it sent another range than the one asked for")
        return have
    if response.headers.get("Content-Length", str(size)) != str(size):
        raise HubError("it has a file of another size")
    return 0


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read(_CHUNK)
    except (OSError, http.client.HTTPException) as cut:
        raise _CutError(str(cut) or type(cut).__name__) from cut


def _within(seconds: float, call: Callable[[], _T]) -> _T:
    """Runs `call` in a thread that is left behind when it takes longer.

    A socket's time-out bounds neither name resolution nor the sum over the addresses that are tried.

    Raises:
        TimeoutError: after `seconds`. Else whatever `call` raised.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread, which raises it
            errors.append(error)

    thread = threading.Thread(target=run, name="model-hub-connect", daemon=True)
    thread.start()
    thread.join(seconds)
    for error in errors:
        raise error
    for result in results:
        return result
    raise TimeoutError(f"no answer within {seconds:g} s")
