"""The shop example with the official SDK: an agent with two tools learns to name the right price.

    python shop.py URL KEY BASE_MODEL STEPS TOKENIZER TASKS

TOKENIZER is a tokenizer.json, TASKS a JSON list of {instruction, item, price, answer}. Prints the mean
reward of every step as a JSON list.
"""

import json
import os
import re
import sys
import warnings

warnings.filterwarnings("ignore")

url, key, base_model, steps, tokenizer_file, tasks_file = sys.argv[1:]
os.environ["FIREWORKS_API_KEY"] = key
os.environ["FIREWORKS_BASE_URL"] = url

from fireworks.training.sdk import (  # noqa: E402
    AdamParams,
    Datum,
    FiretitanServiceClient,
    ModelInput,
    SamplingParams,
)
from tokenizers import Tokenizer  # noqa: E402

tokenizer = Tokenizer.from_file(tokenizer_file)
with open(tasks_file) as file:
    tasks = json.load(file)
tasks_per_step = 8
group = 8
turns = 4
system = "You are a shop assistant.\n\nTools: get_price(item), multiply(a, b)"
assistant = "<|im_start|>assistant\n"
end = tokenizer.token_to_id("<|im_end|>")


def encode(text):
    return tokenizer.encode(text, add_special_tokens=False).ids


def said(role, text):
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def run_tool(task, text):
    """What the tool returns that the text calls; None where it calls none."""
    found = re.search(r"<tool_call>\s*(.*?)\s*</tool_call>", text, re.DOTALL)
    if found is None:
        return None
    try:
        call = json.loads(found.group(1))
        arguments = call["arguments"]
        if call["name"] == "multiply":
            return str(int(arguments["a"]) * int(arguments["b"]))
        return str(task["price"]) if arguments["item"] == task["item"] else "error: no such item"
    except (ValueError, KeyError, TypeError):
        return "error: arguments are not JSON"


class Rollout:
    def __init__(self, task):
        self.task = task
        self.ids = encode(said("system", system) + said("user", task["instruction"]) + assistant)
        self.logprobs = [0.0] * len(self.ids)
        self.sampled = [0.0] * len(self.ids)
        self.answer = None

    def add(self, tokens, logprobs):
        """One turn of the model, and what the tool said to it."""
        self.ids += tokens
        self.logprobs += logprobs
        self.sampled += [1.0] * len(tokens)
        text = tokenizer.decode([id for id in tokens if id != end], skip_special_tokens=False)
        result = run_tool(self.task, text)
        if result is None or tokens[-1] != end:
            self.answer = text
            return
        more = encode("\n" + said("user", f"<tool_response>\n{result}\n</tool_response>") + assistant)
        self.ids += more
        self.logprobs += [0.0] * len(more)
        self.sampled += [0.0] * len(more)

    @property
    def reward(self):
        numbers = re.findall(r"\d+", self.answer or "")
        return float(bool(numbers) and int(numbers[-1]) == self.task["answer"])

    def datum(self, advantage):
        return Datum(
            model_input=ModelInput.from_ints(self.ids[:-1]),
            loss_fn_inputs={
                "target_tokens": self.ids[1:],
                "logprobs": self.logprobs[1:],
                "advantages": [advantage * one for one in self.sampled[1:]],
            },
        )


training = FiretitanServiceClient(base_url=url + "/training/v1/serverless", api_key=key)
rewards = []
try:
    model = training.create_lora_training_client(base_model, rank=16)
    for step in range(int(steps)):
        path = model.save_weights_for_sampler(f"step-{step}").result().path
        sampler = training.create_sampling_client(model_path=path)
        first = step * tasks_per_step
        groups = [
            [Rollout(tasks[i % len(tasks)]) for _ in range(group)]
            for i in range(first, first + tasks_per_step)
        ]
        for turn in range(turns):
            open_ones = [one for rollouts in groups for one in rollouts if one.answer is None]
            pending = [
                sampler.sample(
                    ModelInput.from_ints(one.ids),
                    num_samples=1,
                    sampling_params=SamplingParams(
                        max_tokens=48, temperature=1.0, seed=1 + i + 1000 * (turn + turns * step)
                    ),
                )
                for i, one in enumerate(open_ones)
            ]
            for one, future in zip(open_ones, pending):
                [sequence] = future.result().sequences
                one.add(list(sequence.tokens), list(sequence.logprobs))
        sampler.close()
        data = []
        for rollouts in groups:
            mean = sum(one.reward for one in rollouts) / group
            data += [one.datum(one.reward - mean) for one in rollouts if one.reward != mean]
        rewards.append(sum(one.reward for all in groups for one in all) / (tasks_per_step * group))
        print(f"step {step}: reward {rewards[-1]:.3f}", file=sys.stderr, flush=True)
        if data:
            backward = model.forward_backward(data, "importance_sampling")
            update = model.optim_step(
                AdamParams(learning_rate=0.003, grad_clip_norm=1.0),
                grad_accumulation_normalization="num_loss_tokens",
            )
            backward.result()
            update.result()
finally:
    training.delete_training_session()
    training.close()
print(json.dumps(rewards))
