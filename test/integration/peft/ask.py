"""Loads an adapter (or, with MERGED, a whole model) with PEFT and transformers, and prints log-probabilities.

    python ask.py BASE ADAPTER MERGED < tokens.json
"""

import json
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


def logprobs(model, tokens):
    with torch.no_grad():
        logits = model(torch.tensor([tokens])).logits[0, :-1]
    return torch.log_softmax(logits.double(), -1).gather(-1, torch.tensor(tokens[1:])[:, None])[:, 0].tolist()


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


base, adapter, merged = sys.argv[1:]
tokens = json.load(sys.stdin)
print(
    json.dumps(
        dict(
            base=logprobs(load(base), tokens),
            adapter=logprobs(PeftModel.from_pretrained(load(base), adapter).eval(), tokens),
            merged=logprobs(load(merged), tokens),
        )
    )
)
