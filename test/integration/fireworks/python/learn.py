"""Reinforcement learning with the official SDK: tokens below 100 are wanted.

    python learn.py URL KEY BASE_MODEL STEPS

Prints the mean reward of every step as a JSON list.
"""

import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")

url, key, base_model, steps = sys.argv[1:]
os.environ["FIREWORKS_API_KEY"] = key
os.environ["FIREWORKS_BASE_URL"] = url

from fireworks.training.sdk import (  # noqa: E402
    AdamParams,
    Datum,
    FiretitanServiceClient,
    ModelInput,
    SamplingParams,
)

group = 16
length = 6
prompts = [[40, 41, 42], [60, 61], [70, 50, 44, 43]]
training = FiretitanServiceClient(base_url=url + "/training/v1/serverless", api_key=key)
rewards = []
try:
    model = training.create_lora_training_client(base_model, rank=8)
    for step in range(int(steps)):
        path = model.save_weights_for_sampler(f"step-{step}").result().path
        sampler = training.create_sampling_client(model_path=path)
        params = SamplingParams(max_tokens=length, temperature=1.0)
        pending = [
            sampler.sample(ModelInput.from_ints(one), num_samples=group, sampling_params=params)
            for one in prompts
        ]
        data, scores = [], []
        for prompt, future in zip(prompts, pending):
            sequences = future.result().sequences
            own = [sum(t < 100 for t in one.tokens) / len(one.tokens) for one in sequences]
            mean = sum(own) / group
            scores += own
            for one, reward in zip(sequences, own):
                tokens = prompt + list(one.tokens)
                unread = [0.0] * (len(prompt) - 1)
                data.append(
                    Datum(
                        model_input=ModelInput.from_ints(tokens[:-1]),
                        loss_fn_inputs={
                            "target_tokens": tokens[1:],
                            "logprobs": unread + list(one.logprobs),
                            "advantages": unread + [reward - mean] * len(one.tokens),
                        },
                    )
                )
        sampler.close()
        rewards.append(sum(scores) / len(scores))
        backward = model.forward_backward(data, "importance_sampling")
        update = model.optim_step(
            AdamParams(learning_rate=0.005), grad_accumulation_normalization="num_loss_tokens"
        )
        backward.result()
        update.result()
        print(f"step {step}: reward {rewards[-1]:.3f}", file=sys.stderr)
finally:
    training.delete_training_session()
    training.close()
print(json.dumps(rewards))
