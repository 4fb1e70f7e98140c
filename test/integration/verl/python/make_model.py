"""Writes a tiny random Qwen2 into the folder that is given, for the vocabulary size that is given."""

import sys

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

folder, vocabulary, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(0)
config = Qwen2Config(
    vocab_size=vocabulary,
    hidden_size=64,
    intermediate_size=128,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=512,
    tie_word_embeddings=True,
    bos_token_id=None,
    eos_token_id=stop,
)
Qwen2ForCausalLM(config).save_pretrained(folder)
