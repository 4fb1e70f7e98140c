"""Lets verl train on CPUs, which it does not support: for these tests only.

It knows cuda and npu devices. This adds "cpu" as a platform, and gives torch.cpu the functions that verl
calls. `install` runs in every process.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any, Iterator

import torch


class _Properties:
    total_memory = 0
    name = "cpu"


_MISSING: dict[str, Any] = {
    "memory_allocated": lambda *_: 0,
    "memory_reserved": lambda *_: 0,
    "max_memory_allocated": lambda *_: 0,
    "max_memory_reserved": lambda *_: 0,
    "reset_peak_memory_stats": lambda *_: None,
    "empty_cache": lambda: None,
    "ipc_collect": lambda: None,
    "mem_get_info": lambda *_: (1, 1),
    "get_device_properties": lambda *_: _Properties(),
    "manual_seed": lambda seed: torch.manual_seed(seed),
    "manual_seed_all": lambda seed: torch.manual_seed(seed),
    "get_rng_state": lambda *_: torch.get_rng_state(),
    "set_rng_state": lambda state, *_: torch.set_rng_state(state),
}


def _fill_torch_cpu() -> None:
    for name, function in _MISSING.items():
        if not hasattr(torch.cpu, name):
            setattr(torch.cpu, name, function)


def _name_resources() -> None:
    """verl 0.8 has functions where later versions have platforms."""
    from verl.utils import device

    device.get_resource_name = lambda: "GPU"
    device.get_nccl_backend = lambda: "gloo"
    from verl.single_controller.ray.base import RayResourcePool

    original = RayResourcePool.get_placement_groups

    def get_placement_groups(self: Any, strategy: str = "STRICT_PACK", name: Any = None, device_name: str = "") -> Any:
        # Ray is told that there are GPUs, which only counts places.
        return original(self, strategy, name, "cuda")

    RayResourcePool.get_placement_groups = get_placement_groups


def _set_platform() -> None:
    try:
        from verl.plugin.platform.platform_base import PlatformBase
        from verl.plugin.platform.platform_manager import set_platform
    except ImportError:
        _name_resources()
        return

    class CpuPlatform(PlatformBase):
        device_name = "cpu"
        vendor_name = "nvidia"
        device_module = torch.cpu

        def is_available(self) -> bool:
            return True

        def is_platform_available(self, use_smi_check: bool = False) -> bool:
            return True

        def current_device(self) -> Any:
            return "cpu"

        def device_count(self) -> int:
            return 1

        def set_device(self, device_index: int) -> None: ...

        def synchronize(self, device_index: int | None = None) -> None: ...

        def manual_seed(self, seed: int) -> None:
            torch.manual_seed(seed)

        def manual_seed_all(self, seed: int) -> None:
            torch.manual_seed(seed)

        def set_allocator_settings(self, settings: str) -> None: ...

        def empty_cache(self) -> None: ...

        def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
            return (None, None)

        def communication_backend_name(self) -> str:
            return "gloo"

        def visible_devices_envvar(self) -> str:
            return "CUDA_VISIBLE_DEVICES"

        @contextlib.contextmanager
        def nvtx_range(self, msg: str) -> Iterator[None]:
            yield

        def profiler_start(self) -> None: ...

        def profiler_stop(self) -> None: ...

        def ray_resource_name(self) -> str:
            # Ray is told that there are GPUs, which only counts places.
            return "GPU"

        def ray_noset_envvars(self) -> list[str]:
            return []

        def is_ipc_supported(self) -> bool:
            return False

        def cudart(self) -> Any:
            return None

    set_platform(CpuPlatform())


def _patch_process_group() -> None:
    import verl.utils.distributed as distributed
    import verl.workers.engine_workers as engine_workers

    original = distributed.initialize_global_process_group_ray

    def initialize(timeout_second: int | None = None, backend: str | None = None) -> None:
        original(timeout_second, "cpu:gloo")

    distributed.initialize_global_process_group_ray = initialize
    engine_workers.initialize_global_process_group_ray = initialize


def _register_engine() -> None:
    from verl.workers.engine import EngineRegistry
    from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead, FSDPEngineWithValueHead

    EngineRegistry.register(model_type="language_model", backend=["fsdp2"], device="cpu")(FSDPEngineWithLMHead)
    EngineRegistry.register(model_type="value_model", backend=["fsdp2"], device="cpu")(FSDPEngineWithValueHead)


def _patch_value_model() -> None:
    """verl asks for flash attention by name."""
    from transformers import AutoModelForTokenClassification
    from verl.utils import model

    def load(local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool) -> Any:
        return AutoModelForTokenClassification.from_pretrained(
            local_path,
            torch_dtype=torch_dtype,
            config=model_config,
            attn_implementation="sdpa",
            trust_remote_code=trust_remote_code,
        )

    model.load_valuehead_model = load


def _patch_offload() -> None:
    from verl.workers.engine.fsdp import transformer_impl

    # Of models that are only read; it pins memory for a device. None is what trained models have.
    transformer_impl.CPUOffloadPolicy = lambda pin_memory=False: None


def _register_rollout() -> None:
    from verl.workers.rollout import base, replica

    base._ROLLOUT_REGISTRY[("stub", "async")] = "stub_rollout.ServerAdapter"

    def load() -> type:
        from stub_rollout import StubReplica

        return StubReplica

    replica.RolloutReplicaRegistry.register("stub", load)
    import stub_exchange  # noqa: F401


_state = types.SimpleNamespace(is_installed=False)


def install() -> None:
    if _state.is_installed:
        return
    _state.is_installed = True
    torch.set_num_threads(1)
    _fill_torch_cpu()
    _set_platform()
    _patch_process_group()
    _register_engine()
    _patch_value_model()
    _patch_offload()
    _register_rollout()
