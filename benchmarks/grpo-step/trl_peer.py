"""The other side of grpo-step.ts: TRL's GRPOTrainer, held before each step until it is asked for one.

One JSON object a line comes in, one goes out. "open" loads the model and begins to train; every further
line makes one step and tells its seconds and those of its generation. With the precision "bf16" TRL is
told so, as its users do.
"""

import json
import os
import random
import resource
import sys
import tempfile
import time

import torch
import trl
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def send(answer):
    answer["peakMiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer), file=out, flush=True)


def word_tokenizer(size):
    """One word per id, so that prompts can be written as text and have the length that is asked for."""
    words = {f"w{i}": i for i in range(size)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="w0", eos_token="w1")


def share_of_even_ids(completions, **_):
    ids = [[int(word[1:]) for word in text.split()] for text in completions]
    return [sum(1 - i % 2 for i in row) / max(1, len(row)) for row in ids]


class Turns(TrainerCallback):
    """Each step waits for a line, and is told when it is over."""

    generated = 0.0

    def on_step_begin(self, *_args, **_kwargs):
        receive()
        self.generated = 0.0
        self.start = time.perf_counter()

    def on_step_end(self, *_args, **_kwargs):
        send({"seconds": time.perf_counter() - self.start, "samplingSeconds": self.generated})


request = receive()
torch.set_num_threads(request["threads"])
torch.manual_seed(1)
random.seed(1)
model = AutoModelForCausalLM.from_pretrained(request["folder"], dtype=torch.float32)
vocabulary = model.config.vocab_size
prompts, rollouts = request["prompts"], request["rollouts"]
texts = [
    " ".join(f"w{random.randrange(2, vocabulary)}" for _ in range(request["promptTokens"]))
    for _ in range(prompts * (request["steps"] + 1))
]
# All logits and activations of a step do not fit into memory: it is cut as ours is cut for its budget.
rows_at_once = min(16, prompts * rollouts)
turns = Turns()
trainer = GRPOTrainer(
    model=model,
    reward_funcs=share_of_even_ids,
    processing_class=word_tokenizer(vocabulary),
    train_dataset=Dataset.from_dict({"prompt": texts}),
    callbacks=[turns],
    peft_config=LoraConfig(r=request["rank"], lora_alpha=2 * request["rank"], target_modules=TARGETS),
    args=GRPOConfig(
        output_dir=tempfile.mkdtemp(),
        use_cpu=True,
        bf16=request["precision"] == "bf16",
        gradient_checkpointing=False,
        per_device_train_batch_size=rows_at_once,
        gradient_accumulation_steps=prompts * rollouts // rows_at_once,
        num_generations=rollouts,
        max_completion_length=request["newTokens"],
        generation_kwargs={"min_new_tokens": request["newTokens"]},
        temperature=1.0,
        beta=0.0,
        learning_rate=1e-6,
        max_steps=request["steps"],
        logging_steps=10**6,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    ),
)

generate = trainer._generate


def timed(*args, **kwargs):
    start = time.perf_counter()
    try:
        return generate(*args, **kwargs)
    finally:
        turns.generated += time.perf_counter() - start


trainer._generate = timed
send({"trl": trl.__version__})
trainer.train()
