"""Without flash-attn: which attention verl is told to use, and where its functions for padding come from."""

from __future__ import annotations

import sys
import unittest
from types import ModuleType
from unittest.mock import patch

from agent_trainer_bridge.verl_engine import attention
from agent_trainer_bridge.verl_engine.attention import attention_defaults, use_plain_padding

_OPTION = "actor_rollout_ref.model.override_config.attn_implementation"


def installed(yes: bool) -> object:
    return patch.object(attention, "has_flash_attention", lambda: yes)


def fake_verl() -> dict[str, ModuleType]:
    modules = {
        name: ModuleType(name)
        for name in ("verl", "verl.utils", "verl.utils.attention_utils", "verl.utils.npu_flash_attn_utils")
    }
    utils = modules["verl.utils"]
    utils.attention_utils = modules["verl.utils.attention_utils"]
    utils.npu_flash_attn_utils = plain = modules["verl.utils.npu_flash_attn_utils"]
    utils.attention_utils._get_attention_functions = lambda: "of flash-attn"
    for name in ("index_first_axis", "pad_input", "rearrange", "unpad_input"):
        setattr(plain, name, name)
    return modules


class AttentionTest(unittest.TestCase):
    def test_is_that_of_pytorch_only_without_flash_attn(self) -> None:
        with installed(False):
            self.assertEqual(attention_defaults([]), (f"+{_OPTION}=sdpa",))
            self.assertEqual(attention_defaults(["trainer.device=cpu"]), (f"+{_OPTION}=sdpa",))
        with installed(True):
            self.assertEqual(attention_defaults([]), ())

    def test_is_the_one_that_the_user_chose(self) -> None:
        with installed(False):
            for sign in ("", "+", "++"):
                self.assertEqual(attention_defaults([f"{sign}{_OPTION}=eager"]), ())

    def test_is_chosen_for_each_model(self) -> None:
        critic = "critic.model.override_config.attn_implementation"
        models = ("actor_rollout_ref", "critic")
        with installed(False):
            self.assertEqual(attention_defaults([], models), (f"+{_OPTION}=sdpa", f"+{critic}=sdpa"))
            self.assertEqual(attention_defaults([f"{_OPTION}=eager"], models), (f"+{critic}=sdpa",))

    def test_takes_the_functions_of_verl_for_padding_only_without_flash_attn(self) -> None:
        plain = ("index_first_axis", "pad_input", "rearrange", "unpad_input")
        for yes, expected in ((True, "of flash-attn"), (False, plain)):
            modules = fake_verl()
            with self.subTest(installed=yes), installed(yes), patch.dict(sys.modules, modules):
                use_plain_padding()
                self.assertEqual(modules["verl.utils.attention_utils"]._get_attention_functions(), expected)


if __name__ == "__main__":
    unittest.main()
