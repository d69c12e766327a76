"""Writes the trained adapter as the GGUF file that llama.cpp reads.

python -m training.adapter_file --checkpoint FILE --out FILE
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import gguf
import numpy as np
import torch

from pgparley.config import load
from training.adapter_examples import INVOCATION
from training.adapter_network import ALPHA, Adapter, Base


def write(adapter: Adapter, file: Path) -> None:
    """The matrices in 16 bits, in llama.cpp's names, and from which tokens on they act."""
    writer = gguf.GGUFWriter(file, "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", ALPHA)
    key, tokens = gguf.Keys.Adapter.ALORA_INVOCATION_TOKENS, list(INVOCATION)
    writer.add_key_value(key, tokens, gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.UINT32)
    for name, a, b in zip(adapter.names, adapter.a, adapter.b, strict=True):
        writer.add_tensor(f"{name}.lora_a", a.detach().numpy().astype(np.float16))
        writer.add_tensor(f"{name}.lora_b", b.detach().numpy().astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> int:
    """Writes; returns 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, required=True, help="of training.adapter")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    given = parser.parse_args()
    adapter = Adapter(Base.read(load(None).embedded_model.path))
    adapter.load_state_dict(torch.load(given.checkpoint, weights_only=True)["adapter"])
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write(adapter, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
