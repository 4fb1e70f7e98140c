"""A session of the official SDK from its first call to its last, against one server.

    python lifecycle.py URL KEY BASE_MODEL

Prints one JSON object of what the server returned.
"""

import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")

url, key, base_model = sys.argv[1:]
os.environ["FIREWORKS_API_KEY"] = key
os.environ["FIREWORKS_BASE_URL"] = url

from fireworks.training.sdk import (  # noqa: E402
    AdamParams,
    Datum,
    FireworksClient,
    FiretitanServiceClient,
    ModelInput,
    SamplingParams,
)

report = {}
prompt = ModelInput.from_ints([40, 41, 42])
training = FiretitanServiceClient(base_url=url + "/training/v1/serverless", api_key=key)
model = training.create_lora_training_client(base_model, rank=8)
report["run"] = model.run_name
report["session"] = training.training_session_id

first = model.save_weights_for_sampler("first").result().path
sampler = training.create_sampling_client(model_path=first)
greedy = SamplingParams(max_tokens=6, temperature=0.0)
before = sampler.sample(prompt, num_samples=2, sampling_params=greedy).result().sequences
report["samples"] = [[one.tokens, one.logprobs] for one in before]
report["prompt_logprobs"] = sampler.compute_logprobs(prompt).result()

tokens = [40, 41, 42] + before[0].tokens
inputs = ModelInput.from_ints(tokens[:-1])
zeros = [0.0, 0.0]


def policy_datum():
    return Datum(
        model_input=inputs,
        loss_fn_inputs={
            "target_tokens": tokens[1:],
            "logprobs": zeros + list(before[0].logprobs),
            "advantages": zeros + [1.0] * len(before[0].tokens),
        },
    )


forward = model.forward([policy_datum()], "cross_entropy").result()
report["forward"] = forward.loss_fn_outputs[0]["logprobs"].data
losses = [("importance_sampling", None), ("ppo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2})]
report["steps"] = []
for loss, config in losses:
    result = model.forward_backward([policy_datum()] * 3, loss, loss_fn_config=config).result()
    step = model.optim_step(
        AdamParams(learning_rate=0.01), grad_accumulation_normalization="num_loss_tokens"
    ).result()
    report["steps"].append([result.metrics, step.metrics])

again = sampler.sample(prompt, num_samples=2, sampling_params=greedy).result().sequences
report["frozen"] = [[one.tokens, one.logprobs] for one in again]

state = model.save_state("state").result().path
report["state"] = state
report["loaded"] = model.load_state_with_optimizer(state).result().path
report["names"] = model.list_checkpoints()
control = FireworksClient(api_key=key, base_url=url)
session_name = f"accounts/{control.account_id}/trainingSessions/{training.training_session_id}"
rows = control.list_training_session_checkpoints(session_name)
report["checkpoints"] = [[row["name"].split("/")[-1], row["promotable"]] for row in rows]
report["promoted"] = control.promote_session_checkpoint(rows[0]["name"], "learned", base_model)
report["adapter"] = model.load_adapter("accounts/local/models/learned").result().adapter_path

try:
    model.forward_backward([policy_datum()], "dapo").result()
    report["refused"] = None
except Exception as error:  # what the SDK makes of it
    report["refused"] = str(error)

sampler.close()
model.unload_model().result()
training.delete_training_session()
training.close()

# Without a training session: the snapshot is there, and still the same.
standalone = FiretitanServiceClient(base_url=url + "/training/v1/serverless", api_key=key)
late = standalone.create_sampling_client(model_path=first)
after = late.sample(prompt, num_samples=2, sampling_params=greedy).result().sequences
report["standalone"] = [[one.tokens, one.logprobs] for one in after]
late.close()
standalone.close()

print(json.dumps(report))
