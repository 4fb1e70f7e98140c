"""What TRL's SFTTrainer and DPOTrainer log on given token ids, step by step, and its formulas on given numbers.

usage: ask.py MODEL INPUT.json: {settings, sft: [{ids, mask}], dpo: [{chosen: {ids, mask}, rejected: ...}], opd: {teacher, policy}}
Prints one JSON object.
"""

import json
import sys
import tempfile

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

model_path, input_path = sys.argv[1:]
with open(input_path) as file:
    given = json.load(file)
settings = given["settings"]
tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{model_path}/tokenizer.json")
tokenizer.pad_token = tokenizer.convert_ids_to_tokens(0)
tokenizer.eos_token = "<|im_end|>"
shared = {
    "per_device_train_batch_size": settings["examples"],
    "max_steps": settings["steps"],
    "learning_rate": settings["learningRate"],
    "lr_scheduler_type": "constant",
    "adam_beta1": settings["beta1"],
    "adam_beta2": settings["beta2"],
    "adam_epsilon": settings["eps"],
    "max_grad_norm": settings["maxGradNorm"],
    "weight_decay": 0.0,
    "warmup_steps": 0,
    "logging_steps": 1,
    "save_strategy": "no",
    "report_to": [],
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "max_length": None,
}


def model():
    return AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.float32)


def logs(trainer, names):
    trainer.train()
    steps = [log for log in trainer.state.log_history if "loss" in log]
    return [{name: log[name] for name in names} for log in steps]


class PreparedSft(SFTTrainer):
    def _prepare_dataset(self, dataset, *args, **kwargs):
        return dataset


class PreparedDpo(DPOTrainer):
    def _prepare_dataset(self, dataset, *args, **kwargs):
        return dataset


def sft():
    rows = [
        {
            "input_ids": row["ids"],
            "labels": [i if m else -100 for i, m in zip(row["ids"], row["mask"])],
        }
        for row in given["sft"]
    ]
    trainer = PreparedSft(
        model=model(),
        args=SFTConfig(output_dir=tempfile.mkdtemp(), loss_type="nll", **shared),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    return logs(trainer, ["loss", "grad_norm"])


def dpo():
    def parts(pair):
        start = pair["chosen"]["mask"].index(1)
        return {
            "prompt_ids": pair["chosen"]["ids"][:start],
            "chosen_ids": pair["chosen"]["ids"][start:],
            "rejected_ids": pair["rejected"]["ids"][start:],
        }

    trainer = PreparedDpo(
        model=model(),
        ref_model=model(),
        args=DPOConfig(
            output_dir=tempfile.mkdtemp(),
            beta=settings["dpoBeta"],
            loss_type="sigmoid",
            **shared,
        ),
        train_dataset=Dataset.from_list([parts(pair) for pair in given["dpo"]]),
        processing_class=tokenizer,
    )
    names = ["chosen", "rejected", "margins", "accuracies"]
    return logs(trainer, ["loss", "grad_norm", *(f"rewards/{name}" for name in names)])


def opd():
    """IW-OPD with gamma 0, which is on-policy distillation without weights: its loss is -log p times the advantage."""
    from collections import defaultdict

    from trl.experimental.iw_opd.iw_opd_trainer import IWOPDTrainer

    policy = torch.tensor([given["opd"]["policy"]])
    # Two tokens, of which the first was sampled.
    logits = torch.stack([policy, torch.log1p(-policy.exp())], dim=-1).requires_grad_()
    stub = type("Trainer", (), {})()
    stub.temperature, stub.iw_opd_epsilon, stub.iw_opd_gamma = 1.0, 1e-8, 0.0
    stub.model = type("Model", (), {"training": True})()
    stub._metrics = defaultdict(lambda: defaultdict(list))
    zeros = torch.zeros_like(policy, dtype=torch.long)
    teacher = torch.tensor([given["opd"]["teacher"]])
    loss = IWOPDTrainer._compute_iw_opd_loss(stub, logits, zeros, zeros, teacher, policy, 1)
    loss.backward()
    # d log p / d logit is 1 - p.
    return (-logits.grad[0, :, 0] / (1 - policy[0].exp())).tolist()


print(json.dumps({"sft": sft(), "dpo": dpo(), "opd": opd()}))
