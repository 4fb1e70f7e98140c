"""Writes a small Qwen3 with random weights into a folder.

    python make_qwen3.py FOLDER VOCABULARY STOP
"""

import sys

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

folder, vocabulary, stop = sys.argv[1:]
torch.manual_seed(0)
config = Qwen3Config(
    vocab_size=int(vocabulary),
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=512,
    # Large enough for the tied output matrix to tell tokens apart.
    initializer_range=0.25,
    tie_word_embeddings=True,
    bos_token_id=None,
    eos_token_id=int(stop),
    pad_token_id=None,
)
Qwen3ForCausalLM(config).float().save_pretrained(folder)
