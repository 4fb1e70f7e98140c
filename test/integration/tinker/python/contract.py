"""Every call of the official SDK's service, training, sampling and REST clients, against one server.

    python contract.py URL KEY MODEL

Prints one JSON object: what failed, by case, and the public methods that no case called.
"""

import asyncio
import functools
import inspect
import json
import math
import pickle
import sys
import traceback
import urllib.request
import warnings

warnings.filterwarnings("ignore")

import tinker
import torch
from tinker import types
from tinker.lib.public_interfaces.rest_client import RestClient
from tinker.lib.public_interfaces.sampling_client import SamplingClient
from tinker.lib.public_interfaces.service_client import ServiceClient
from tinker.lib.public_interfaces.training_client import TrainingClient

url, key, base_model = sys.argv[1:]
clients = (ServiceClient, TrainingClient, SamplingClient, RestClient)
called = set()
cases = {}


def public_methods(client):
    for name, member in inspect.getmembers(client, inspect.isfunction):
        # Twins of the same calls, kept by the SDK for older programs.
        if not name.startswith("_") and not name.endswith("_async"):
            yield name, member


def record(client, name, member):
    @functools.wraps(member)
    def wrapper(*args, **kwargs):
        called.add(f"{client.__name__}.{name}")
        return member(*args, **kwargs)

    static = isinstance(inspect.getattr_static(client, name), staticmethod)
    setattr(client, name, staticmethod(wrapper) if static else wrapper)


for client in clients:
    for name, member in list(public_methods(client)):
        record(client, name, member)


def case(function):
    cases[function.__name__] = function
    return function


def wait(value):
    return value.result(timeout=120) if hasattr(value, "result") else value


def near(actual, expected, tolerance=1e-4):
    assert math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance), (actual, expected)


def refused(call, *words):
    """In one sentence that says what is not there, and at once: no retries."""
    try:
        wait(call())
    except tinker.TinkerError as error:
        text = str(error)
        assert all(word in text for word in words), text
    else:
        raise AssertionError("it was not refused")


TOKENS, TARGETS = [40, 41, 42, 43], [41, 42, 43, 44]
PROMPT = types.ModelInput.from_ints(TOKENS)
ADAM = types.AdamParams(learning_rate=1e-3)


def datum(**floats):
    inputs = {name: types.TensorData.from_torch(torch.tensor(values)) for name, values in floats.items()}
    inputs["target_tokens"] = types.TensorData.from_torch(torch.tensor(TARGETS))
    return types.Datum(model_input=PROMPT, loss_fn_inputs=inputs)


NLL = [datum(weights=[1.0, 1.0, 1.0, 1.0])]


def logprobs(output):
    return output.loss_fn_outputs[0]["logprobs"].to_torch().tolist()


def train(model, steps=1):
    for _ in range(steps):
        forward, step = model.forward_backward(NLL, "cross_entropy"), model.optim_step(ADAM)
        wait(forward)
        wait(step)


service = ServiceClient(base_url=url, api_key=key, user_metadata={"suite": "contract"})
training = wait(service.create_lora_training_client(base_model=base_model, rank=4, seed=1))
rest = service.create_rest_client()


@case
def service_tells_what_there_is():
    (model,) = service.get_server_capabilities().supported_models
    assert model.model_name == base_model and model.max_context_length == 512
    assert wait(rest.get_server_capabilities()).supported_models == [model]
    assert service.holder.get_session_id() == training.model_id.split(":")[0]
    for client in (service, training, rest):
        client.get_telemetry()


@case
def model_info_and_tokenizer():
    info = wait(training.get_info())
    assert info.is_lora and info.lora_rank == 4 and info.model_data.model_name == base_model
    tokenizer = training.get_tokenizer()
    text = "How much do 3 plates cost?"
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


@case
def forward_leaves_the_gradient_alone():
    before = logprobs(wait(training.forward(NLL, "cross_entropy")))
    near(wait(training.optim_step(ADAM)).metrics["grad_norm"], 0)
    assert logprobs(wait(training.forward(NLL, "cross_entropy"))) == before


@case
def losses_have_their_worked_values():
    now = logprobs(wait(training.forward(NLL, "cross_entropy")))
    ratios, advantages = [0.2, -0.5, 0.0, -1.0], [1.0, 1.0, -0.5, 2.0]
    rows = [datum(logprobs=[l - r for l, r in zip(now, ratios)], advantages=advantages)]
    worked = [
        ("importance_sampling", None, -2.0636923),
        ("ppo", None, -2.042289542),
        ("ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}, -1.942289542),
    ]
    for loss, config, value in worked:
        near(wait(training.forward(rows, loss, config)).metrics["loss:sum"], value)
    clipped = [1.2, 0.8, 1.0, 0.8]
    cispo = wait(training.forward(rows, "cispo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}))
    near(cispo.metrics["loss:sum"], -sum(c * l * a for c, l, a in zip(clipped, now, advantages)))
    marked = [datum(logprobs=[l - r for l, r in zip(now, ratios)], advantages=advantages, sequence_ratio_mask=[1.0] * 4)]
    wide = {"clip_low_threshold": 0.1, "clip_high_threshold": 10.0}
    gspo = wait(training.forward(marked, "gspo", wide))
    near(gspo.metrics["loss:sum"], -math.exp(sum(ratios) / 4) * sum(advantages))
    dro = wait(training.forward(rows, "dro", {"beta": 0.05}))
    near(dro.metrics["loss:sum"], -sum(l * a - 0.025 * r * r for l, a, r in zip(now, advantages, ratios)))


@case
def stable_reinforce_has_the_value_of_our_formula_on_what_was_sampled():
    """-min(r, 1) A l: ours, since the hosted service's is not published."""
    sampler = wait(training.save_weights_and_get_sampling_client(record_stability_info=True))
    (sampled,) = wait(sampler.sample(PROMPT, 1, types.SamplingParams(max_tokens=3, stop=[]))).sequences
    kept, count = list(sampled.tokens), len(sampled.tokens)
    ids = TOKENS + kept
    ratios, advantages = [0.5, -0.4, 0.0][:count], [1.0, -2.0, 0.5][:count]
    prompt = len(TOKENS) - 1
    tensors = dict(
        target_tokens=torch.tensor(ids[1:]),
        logprobs=torch.tensor([0.0] * prompt + [l - r for l, r in zip(sampled.logprobs, ratios)]),
        advantages=torch.tensor([0.0] * prompt + advantages),
    )
    row = types.Datum(
        model_input=types.ModelInput.from_ints(ids[:-1]),
        loss_fn_inputs={name: types.TensorData.from_torch(value) for name, value in tensors.items()},
    )
    named = row.with_provenance(
        model_input=[
            types.PromptProvenanceSpan(sequence_id=sampled.sequence_id, length=prompt + 1),
            types.SampledProvenanceSpan(sequence_id=sampled.sequence_id, length=count - 1),
        ],
        loss_fn_inputs=[
            types.PromptProvenanceSpan(sequence_id=sampled.sequence_id, offset=1, length=prompt),
            types.SampledProvenanceSpan(sequence_id=sampled.sequence_id, length=count),
        ],
    )
    output = wait(training.forward([named], "stable_reinforce"))
    now = logprobs(output)[prompt:]
    worked = -sum(min(math.exp(r), 1) * a * l for r, a, l in zip(ratios, advantages, now))
    near(output.metrics["loss:sum"], worked, 1e-3)


@case
def gradients_add_up_until_the_optimizer_steps():
    model = wait(service.create_lora_training_client(base_model=base_model, rank=4, seed=3))
    still = types.AdamParams(learning_rate=0.0)

    def norm(*batches):
        pending = [model.forward_backward(batch, "cross_entropy") for batch in batches]
        step = model.optim_step(still)
        [wait(one) for one in pending]
        return wait(step).metrics["grad_norm"]

    single = norm(NLL)
    near(norm(NLL, NLL) / single, 2)
    near(norm(NLL * 2) / single, 2)


@case
def custom_losses_have_the_gradient_of_their_formula():
    one, other = [wait(service.create_lora_training_client(base_model=base_model, rank=4, seed=4)) for _ in "ab"]

    def loss(data, logprobs_list):
        total = -sum((values * torch.tensor([1.0, 0.5, 0.0, 2.0])).sum() for values in logprobs_list)
        return total, {"custom": total.item()}

    custom = one.forward_backward_custom(NLL, loss)
    plain = other.forward_backward([datum(weights=[1.0, 0.5, 0.0, 2.0])], "cross_entropy")
    steps = [model.optim_step(ADAM) for model in (one, other)]
    near(wait(custom).metrics["custom"], wait(plain).metrics["loss:sum"])
    near(*[wait(step).metrics["grad_norm"] for step in steps])

    def neg_ll(logprobs, weights):
        value = -(logprobs * weights).sum()
        return value, {"custom/neg_ll:sum": value}

    handle = wait(service.create_custom_loss(neg_ll, input_ranks={"logprobs": 1, "weights": 1}))
    now = logprobs(wait(one.forward(NLL, "cross_entropy")))
    near(wait(one.forward_backward_custom(NLL, handle)).metrics["custom/neg_ll:sum"], -sum(now))


@case
def many_datums_go_in_several_requests():
    rows = [
        types.Datum(
            model_input=types.ModelInput.from_ints([i % 400]),
            loss_fn_inputs={"target_tokens": [1], "weights": [1.0]},
        )
        for i in range(2500)
    ]
    output = wait(training.forward(rows, "cross_entropy"))
    values = [one["logprobs"].data[0] for one in output.loss_fn_outputs]
    assert len(values) == 2500 and values[:100] == values[2400:]
    near(output.metrics["loss:sum"] / -sum(values), 1)


@case
def training_lowers_the_loss():
    before = wait(training.forward(NLL, "cross_entropy")).metrics["loss:sum"]
    train(training, 5)
    assert wait(training.forward(NLL, "cross_entropy")).metrics["loss:sum"] < before - 0.1


@case
def states_go_on_bit_by_bit():
    path = wait(training.save_state("contract")).path
    assert path == f"tinker://{training.model_id}/weights/contract", path
    again = wait(service.create_training_client_from_state_with_optimizer(path))
    fresh = wait(service.create_training_client_from_state(path))
    loaded = wait(service.create_lora_training_client(base_model=base_model, rank=4))
    wait(loaded.load_state(path))
    resumed = wait(service.create_lora_training_client(base_model=base_model, rank=4))
    wait(resumed.load_state_with_optimizer(path))
    expected = wait(training.forward(NLL, "cross_entropy")).metrics["loss:sum"]
    models = (again, fresh, loaded, resumed)
    for model in models:
        assert wait(model.forward(NLL, "cross_entropy")).metrics["loss:sum"] == expected
    losses = []
    for model in (training, *models):
        train(model)
        losses.append(wait(model.forward(NLL, "cross_entropy")).metrics["loss:sum"])
    trained, with_optimizer, without, loaded_without, loaded_with = losses
    assert trained == with_optimizer == loaded_with and without == loaded_without != trained, losses


@case
def samples_are_those_of_the_weights_they_were_asked_of():
    params = types.SamplingParams(max_tokens=6, seed=5, stop=[])
    sample = lambda client: [s.tokens for s in wait(client.sample(PROMPT, 2, params)).sequences]
    before = wait(training.save_weights_and_get_sampling_client())
    first = sample(before)
    train(training, 5)
    saved = wait(training.save_weights_for_sampler("contract")).path
    after = wait(training.create_sampling_client(saved))
    by_path = wait(service.create_sampling_client(model_path=saved))
    assert sample(before) == first and sample(after) == sample(by_path) != first
    base = wait(service.create_sampling_client(base_model=base_model))
    assert base.get_base_model() == base_model
    assert len(sample(base)) == 2
    base.get_tokenizer()
    base.get_telemetry()


@case
def samples_have_what_was_asked_for():
    sampler = wait(service.create_sampling_client(base_model=base_model))
    greedy = types.SamplingParams(max_tokens=8, temperature=0.0, stop=[])
    (free,) = wait(sampler.sample(PROMPT, 1, greedy)).sequences
    assert len(free.tokens) == len(free.logprobs) == 8 and free.stop_reason == "length"
    scores = wait(sampler.compute_logprobs(types.ModelInput.from_ints(TOKENS + free.tokens)))
    assert scores[0] is None
    for ours, theirs in zip(free.logprobs, scores[len(TOKENS) :]):
        near(ours, theirs, 1e-3)
    stop = free.tokens[2]
    cut = types.SamplingParams(max_tokens=8, temperature=0.0, stop=[stop])
    (short,) = wait(sampler.sample(PROMPT, 1, cut)).sequences
    assert short.stop_reason == "stop" and short.tokens == free.tokens[: free.tokens.index(stop) + 1]
    text = sampler.get_tokenizer().decode(free.tokens)
    words = types.SamplingParams(max_tokens=8, temperature=0.0, stop=[text[2:4]])
    (until,) = wait(sampler.sample(PROMPT, 1, words)).sequences
    assert until.stop_reason == "stop" and until.tokens == free.tokens[: len(until.tokens)]
    scored = wait(sampler.sample(PROMPT, 1, greedy, include_prompt_logprobs=True, topk_prompt_logprobs=3))
    assert len(scored.prompt_logprobs) == 4 and scored.topk_prompt_logprobs[0] is None
    assert all(len(row) == 3 for row in scored.topk_prompt_logprobs[1:])
    last = wait(sampler.sample(PROMPT, 1, greedy, include_prompt_logprobs=True, prompt_logprobs_last_n=1))
    assert [value is None for value in last.prompt_logprobs] == [True, True, True, False]
    tops = wait(sampler.sample(PROMPT, 1, greedy, topk_sample_logprobs=2)).sequences[0]
    assert [row[0][0] for row in tops.topk_logprobs] == tops.tokens
    for row, logprob in zip(tops.topk_logprobs, tops.logprobs, strict=True):
        near(row[0][1], logprob, 1e-3)
    others = wait(sampler.sample(PROMPT, 1, greedy, prompt_alt_tokens_k=3)).prompt_alt_tokens
    assert others.tokens.shape == [3, 3] and others.logprobs.shape == [3, 3]
    ids = PROMPT.to_ints()[1:]
    targets = types.TensorData(data=ids, dtype="int64", shape=[3, 1])
    scores = wait(sampler.sample(PROMPT, 1, greedy, target_prompt_logprobs=targets)).target_prompt_logprobs
    for ours, theirs in zip(scores.data, scored.prompt_logprobs[1:], strict=True):
        near(ours, theirs, 1e-3)


@case
def samplers_travel_to_other_processes():
    sampler = wait(service.create_sampling_client(base_model=base_model))
    params = types.SamplingParams(max_tokens=4, temperature=0.0, stop=[])
    expected = wait(sampler.sample(PROMPT, 1, params)).sequences[0].tokens
    handle = SamplingClient.from_sampler_handle(sampler.get_sampler_handle(), api_key=key)
    for copy in (handle, pickle.loads(pickle.dumps(sampler))):
        assert wait(copy.sample(PROMPT, 1, params)).sequences[0].tokens == expected
        copy.on_queue_state_change(tinker.lib.api_future_impl.QueueState.ACTIVE, None)
    assert wait(SamplingClient.create(service.holder, base_model=base_model))


@case
def several_samples_at_once():
    sampler = wait(service.create_sampling_client(base_model=base_model))
    params = [types.SamplingParams(max_tokens=6, seed=i, stop=[]) for i in range(24)]

    async def all_of_them():
        return await asyncio.gather(*[sampler.sample(PROMPT, 1, one) for one in params])

    drawn = [answer.sequences[0].tokens for answer in asyncio.run(all_of_them())]
    alone = [wait(sampler.sample(PROMPT, 1, one)).sequences[0].tokens for one in params]
    assert drawn == alone


@case
def lists_of_runs_sessions_and_checkpoints():
    path = wait(training.save_state("listed", ttl_seconds=3600)).path
    run = wait(rest.get_training_run(training.model_id))
    assert run == wait(rest.get_training_run_by_tinker_path(path)) and run.lora_rank == 4
    assert run.last_checkpoint.tinker_path == path
    assert training.model_id in [one.training_run_id for one in wait(rest.list_training_runs()).training_runs]
    listed = wait(rest.list_checkpoints(training.model_id)).checkpoints
    assert path in [one.tinker_path for one in listed]
    everything = wait(rest.list_user_checkpoints())
    assert path in [one.tinker_path for one in everything.checkpoints]
    assert everything.cursor.total_count >= len(listed)
    info = wait(rest.get_weights_info_by_tinker_path(path))
    assert (info.base_model, info.lora_rank, info.is_lora) == (base_model, 4, True)
    (session,) = [one for one in wait(rest.list_sessions()).sessions if one in training.model_id]
    assert training.model_id in wait(rest.get_session(session)).training_run_ids
    sampler = wait(service.create_sampling_client(model_path=path))
    (ours,) = [one for one in wait(rest.get_session(session)).sampler_ids[-1:]]
    assert wait(rest.get_sampler(ours)).model_path == path and sampler


@case
def checkpoints_are_published_kept_and_deleted():
    path = wait(training.save_state("kept", ttl_seconds=3600)).path
    of = lambda: [c for c in wait(rest.list_checkpoints(training.model_id)).checkpoints if c.tinker_path == path]
    assert of()[0].expires_at is not None and not of()[0].public
    wait(rest.publish_checkpoint_from_tinker_path(path))
    assert of()[0].public
    wait(rest.unpublish_checkpoint_from_tinker_path(path))
    wait(rest.set_checkpoint_ttl_from_tinker_path(path, None))
    assert of()[0].expires_at is None and not of()[0].public
    wait(rest.delete_checkpoint_from_tinker_path(path))
    assert of() == []
    wait(training.save_state("kept"))
    wait(rest.delete_checkpoint(training.model_id, "weights/kept"))
    assert of() == []
    refused(lambda: rest.get_weights_info_by_tinker_path(path), "no checkpoint")


@case
def what_is_not_offered_is_refused_at_once():
    model = wait(service.create_lora_training_client(base_model=base_model, rank=2))
    path = wait(model.save_state("refused")).path
    session = model.model_id.split(":")[0]
    refused(lambda: rest.get_external_weights_urls(f"tinker://{model.model_id}/external_weights/x"), "404")
    refused(lambda: model.forward(NLL, "hinge"), "importance_sampling", "stable_reinforce")
    unnamed = [datum(logprobs=[0.0] * 4, advantages=[1.0] * 4)]
    refused(lambda: model.forward(unnamed, "stable_reinforce"), "with_provenance")
    refused(lambda: model.forward(unnamed, "stable_reinforce", {"kl_coeff": 0.1}), "kl_coeff")
    owner = ServiceClient(base_url=url, api_key=key, project_id="project")
    refused(lambda: owner.copy_weights(path), "404")
    refused(lambda: rest.copy_weights(path, "project"), "404")
    refused(lambda: rest.assign_session_project(session, "project"), "404")
    refused(lambda: rest.export_session_trace(session), "404")
    refused(lambda: rest.get_audit_log(), "404")
    refused(lambda: rest.get_billing_usage("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"), "404")
    refused(lambda: rest.get_current_checkpoint_storage_usage(), "404")
    refused(lambda: rest.search_sessions(types.SessionSearchRequest()), "404")
    # These two the SDK itself refuses: they are about accounts of the hosted service.
    for call in (rest.whoami, model.get_console_url, service.get_console_url):
        try:
            wait(call())
        except (RuntimeError, tinker.TinkerError):
            pass


@case
def a_refused_request_holds_up_none_after_it():
    model = wait(service.create_lora_training_client(base_model=base_model, rank=2))
    wrong = [
        model.forward([datum()], "ppo"),
        model.forward(NLL, "hinge"),
        model.optim_step(types.AdamParams(learning_rate=-1.0)),
        model.save_state("../outside"),
        model.load_state("tinker://a/weights/b"),
    ]
    right = [model.forward(NLL, "cross_entropy"), model.optim_step(ADAM), model.save_state("right")]
    for one in wrong:
        refused(lambda: one)
    for one in right:
        wait(one)


@case
def a_refused_forward_backward_holds_up_none_after_it():
    model = wait(service.create_lora_training_client(base_model=base_model, rank=2))
    image = types.ModelInput(chunks=[types.ImageChunk(data=b"\x89PNG", format="png", expected_tokens=4)])
    shown = types.Datum(model_input=image, loss_fn_inputs=NLL[0].loss_fn_inputs)
    nan = datum(weights=[1.0, math.nan, 1.0, 1.0])
    for data, loss in (([shown], "cross_entropy"), ([nan], "cross_entropy"), (NLL, "hinge")):
        refused(lambda: model.forward_backward(data, loss))
        # Whoever was told sends the batch again, and its step is taken.
        train(model)
    wrong, step = model.forward_backward([nan], "cross_entropy"), model.optim_step(ADAM)
    refused(lambda: wrong, "NonFinite")
    refused(lambda: step, "step was not taken")
    train(model)


@case
def adapters_are_downloaded():
    model = wait(service.create_lora_training_client(base_model=base_model, rank=2))
    path = wait(model.save_weights_external("adapter", ttl_seconds=3600)).path
    assert path == f"tinker://{model.model_id}/external_weights/adapter", path
    answer = wait(rest.get_external_weights_urls(path))
    files = {name: urllib.request.urlopen(one).read() for name, one in answer.urls.items()}
    assert json.loads(files["adapter_config.json"])["r"] == 2
    assert len(files["adapter_model.safetensors"]) > 1000
    (listed,) = wait(rest.list_checkpoints(model.model_id)).checkpoints
    assert (listed.checkpoint_type, listed.tinker_path) == ("external", path)
    wait(rest.delete_checkpoint_from_tinker_path(path))
    refused(lambda: rest.get_external_weights_urls(path), "404")


@case
def closed_clients_make_room():
    for _ in range(40):
        own = ServiceClient(base_url=url, api_key=key)
        wait(own.create_lora_training_client(base_model=base_model, rank=2))
        wait(own.close("success"))


@case
def mistakes_are_named():
    refused(lambda: service.create_lora_training_client(base_model="Qwen/Qwen3-8B"), "Qwen/Qwen3-8B")
    refused(lambda: service.create_lora_training_client(base_model=base_model, rank=0), "rank is 0")
    refused(lambda: service.create_sampling_client(model_path="tinker://a/weights/b"), "no checkpoint")
    refused(lambda: training.forward(NLL, "gspo"), "missing")
    refused(lambda: training.forward([datum()], "ppo"), "missing")
    long = types.ModelInput.from_ints([1] * 600)
    sampler = wait(service.create_sampling_client(base_model=base_model))
    refused(lambda: sampler.sample(long, 1, types.SamplingParams(max_tokens=1)), "512")
    refused(lambda: ServiceClient(base_url=url, api_key="tml-wrong").create_rest_client().list_sessions(), "401")


@case
def the_older_async_names_work():
    async def run():
        model = await service.create_lora_training_client_async(base_model=base_model, rank=2, seed=9)
        forward = await model.forward_backward_async(NLL, "cross_entropy")
        step = await model.optim_step_async(ADAM)
        await forward
        await step
        sampler = await model.save_weights_and_get_sampling_client_async()
        params = types.SamplingParams(max_tokens=2, stop=[])
        return await sampler.sample_async(prompt=PROMPT, num_samples=1, sampling_params=params)

    assert len(asyncio.run(run()).sequences) == 1


def run():
    failures = {}
    for name, function in cases.items():
        try:
            function()
        except BaseException:
            failures[name] = traceback.format_exc()
    other = ServiceClient(base_url=url, api_key=key)
    wait(other.create_sampling_client(base_model=base_model))
    wait(other.close("success"))
    every = {f"{client.__name__}.{name}" for client in clients for name, _ in public_methods(client)}
    uncalled = sorted(every - called)
    print(json.dumps(dict(version=tinker.__version__, cases=list(cases), failures=failures, uncalled=uncalled)))


run()
