"""verl's configuration: its defaults, what this bridge needs, and then the user's overrides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UnsupportedError
from .attention import attention_defaults

COLOCATED = "naive"
"""verl's name for handing weights on inside a process that trains and serves."""

_FIXED = (
    "actor_rollout_ref.rollout.mode=async",
    "actor_rollout_ref.rollout.calculate_log_probs=true",
    # The loss, its aggregation and its penalties are those of objective.py.
    "actor_rollout_ref.actor.use_kl_loss=false",
    "actor_rollout_ref.actor.entropy_coeff=0",
    "actor_rollout_ref.actor.loss_agg_mode=token-mean",
    "actor_rollout_ref.actor.ppo_epochs=1",
    # The rate of each step comes with the step.
    "actor_rollout_ref.actor.optim.lr_scheduler_type=constant",
    "actor_rollout_ref.actor.optim.lr_warmup_steps=0",
    "actor_rollout_ref.actor.optim.total_training_steps=1000000",
)
_CRITIC = (
    "critic.enable=true",
    "critic.loss_agg_mode=token-mean",
    "critic.ppo_epochs=1",
    "critic.optim.lr_scheduler_type=constant",
    "critic.optim.lr_warmup_steps=0",
    "critic.optim.total_training_steps=1000000",
)
_DEFAULTS = (
    "actor_rollout_ref.actor.use_dynamic_bsz=true",
    "actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=true",
    "actor_rollout_ref.rollout.gpu_memory_utilization=0.5",
)


def compose(model: str, overrides: Sequence[str], has_critic: bool = False) -> Any:
    """A DictConfig with everything resolved. Raises UnsupportedError for an override that Hydra refuses."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_module
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    sections = ("actor_rollout_ref", "critic") if has_critic else ("actor_rollout_ref",)
    models = [f"{section}.model.path={model}" for section in sections]
    critic = _CRITIC if has_critic else ("critic.enable=false",)
    everything = [*_DEFAULTS, *attention_defaults(overrides, sections), *models, *overrides, *_FIXED, *critic]
    try:
        with initialize_config_module("verl.trainer.config", version_base=None):
            config = hydra_compose("ppo_trainer", overrides=everything)
        OmegaConf.resolve(config)
    except (HydraException, OmegaConfBaseException) as error:
        raise UnsupportedError(f"verl's configuration does not take an override: {error}") from error
    _check(config)
    return config


def context_length(config: Any) -> int:
    rollout = config.actor_rollout_ref.rollout
    return int(rollout.max_model_len or rollout.prompt_length + rollout.response_length)


def logprob_kind(config: Any, server_kind: str) -> str:
    """SGLang knows no other log-probabilities than those after temperature."""
    mode = str(config.actor_rollout_ref.rollout.get("logprobs_mode", "raw_logprobs"))
    return "processed" if server_kind == "sglang" or mode.startswith("processed") else "raw"


def is_colocated(config: Any) -> bool:
    return bool(config.actor_rollout_ref.hybrid_engine)


def has_adapter(config: Any) -> bool:
    model = config.actor_rollout_ref.model
    return bool(model.get("lora_rank", 0) or model.get("lora", {}).get("rank", 0))


def _check(config: Any) -> None:
    if has_adapter(config) and not config.actor_rollout_ref.model.get("lora", {}).get("merge", False):
        raise UnsupportedError(
            "Rollouts come over HTTP, where servers would answer without the LoRA adapter. "
            "Set actor_rollout_ref.model.lora.merge=true."
        )
    rollout = config.actor_rollout_ref.rollout
    exchange = rollout.checkpoint_engine.backend
    if is_colocated(config) != (exchange == COLOCATED):
        raise UnsupportedError(
            f"actor_rollout_ref.rollout.checkpoint_engine.backend={exchange} does not fit the placement: "
            f"colocated takes {COLOCATED}, disaggregated another one, such as nccl."
        )
