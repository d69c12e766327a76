"""The pass over continuations of a prefix, on a network of two layers with weights drawn by a seed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gguf")

from training import adapter_network  # noqa: E402 - behind what it needs
from training.adapter_network import PROJECTIONS, Adapter, Base, Network, Prefixes, Shape  # noqa: E402

SHAPE = Shape(layers=2, heads=4, shared=2, size=8, base=10_000.0, epsilon=1e-6)
WIDTH, INNER, WORDS = 32, 48, 20
INSTRUCTIONS, SCHEMA = (1, 2, 3), (4, 5)
FIRST, SECOND = (6, 7, 8, 9), (6, 10, 11)


@pytest.fixture
def base() -> Base:
    torch.manual_seed(1)
    sizes = {"ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER)}
    sizes |= {
        "attn_q": (WIDTH, WIDTH),
        "attn_k": (16, WIDTH),
        "attn_v": (16, WIDTH),
        "attn_output": (WIDTH, WIDTH),
    }
    weights = {"token_embd.weight": (WORDS, WIDTH), "output.weight": (WORDS, WIDTH)}
    for layer in range(SHAPE.layers):
        weights |= {f"blk.{layer}.{name}.weight": sizes[name] for name in PROJECTIONS}
    drawn = {name: torch.randn(size, dtype=torch.bfloat16) / 4 for name, size in weights.items()}
    for layer in range(SHAPE.layers):
        drawn |= {f"blk.{layer}.attn_{each}.bias": torch.randn(sizes[f"attn_{each}"][0]) for each in "qkv"}
        drawn |= {f"blk.{layer}.{each}_norm.weight": torch.ones(WIDTH) for each in ("attn", "ffn")}
    return Base(SHAPE, {**drawn, "output_norm.weight": torch.ones(WIDTH)})


@pytest.fixture
def network(base: Base, monkeypatch: pytest.MonkeyPatch) -> Network:
    monkeypatch.setattr(adapter_network, "LOWEST", 1)
    adapter = Adapter(base)
    for each in adapter.b:
        torch.nn.init.normal_(each)
    return Network(base, adapter)


def test_a_prefix_that_is_kept_is_as_good_as_one_that_is_read_again(network: Network) -> None:
    prefixes = Prefixes(network, INSTRUCTIONS)
    kept = network.loss([FIRST], [1], [2], prefixes.cells((*INSTRUCTIONS, *SCHEMA)))
    whole = network.loss([(*INSTRUCTIONS, *SCHEMA, *FIRST)], [len(INSTRUCTIONS + SCHEMA) + 1], [2], [])
    assert kept.item() == pytest.approx(whole.item(), rel=0.02)


def test_examples_of_one_pass_do_not_see_each_other(network: Network) -> None:
    cells = network.prefix((*INSTRUCTIONS, *SCHEMA), [])
    together = network.loss([FIRST, SECOND], [1, 0], [2, 1], cells)
    alone = network.loss([FIRST], [1], [2], cells) + network.loss([SECOND], [0], [1], cells)
    assert together.item() == pytest.approx(alone.item(), rel=0.02)


def test_the_adapter_acts_behind_what_is_read_without_it(network: Network) -> None:
    without = network.loss([FIRST], [len(FIRST)], [1], []).item()
    assert network.loss([FIRST], [0], [1], []).item() != pytest.approx(without, rel=0.001)
    for each in network.adapter.b:
        torch.nn.init.zeros_(each)
    assert network.loss([FIRST], [0], [1], []).item() == without


def test_only_the_adapter_learns_and_only_above_the_lowest_layers(network: Network) -> None:
    network.loss([FIRST], [1], [2], []).backward()
    assert {name.split(".")[1] for name in network.adapter.names} == {"1"}
    assert all(each.grad is not None for each in network.adapter.b)
    assert all(not each.requires_grad for each in network.base.weights.values())
