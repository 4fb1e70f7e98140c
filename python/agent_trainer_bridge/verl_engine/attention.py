"""Training where flash-attn is not installed: attention by PyTorch, and verl's own plain functions for padding."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

_OPTION = "model.override_config.attn_implementation"


def has_flash_attention() -> bool:
    return importlib.util.find_spec("flash_attn") is not None


def attention_defaults(overrides: Sequence[str], models: Sequence[str] = ("actor_rollout_ref",)) -> tuple[str, ...]:
    """
    PyTorch's attention for the sections `models`, unless flash-attn is there or `overrides` choose another; verl
    would refuse to start.
    """
    if has_flash_attention():
        return ()
    chosen = {text.lstrip("+~").partition("=")[0] for text in overrides}
    options = [f"{model}.{_OPTION}" for model in models]
    return tuple(f"+{option}=sdpa" for option in options if option not in chosen)


def use_plain_padding() -> None:
    """verl takes four functions of flash-attn that need no GPU; it has the same ones for another device."""
    if has_flash_attention():
        return
    from verl.utils import attention_utils, npu_flash_attn_utils as plain

    functions = (plain.index_first_axis, plain.pad_input, plain.rearrange, plain.unpad_input)
    attention_utils._get_attention_functions = lambda: functions
