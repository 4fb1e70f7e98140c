"""Ray, its workers and the inference servers: started, reached, ended. Knows no rows."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import BridgeError, UnsupportedError
from .config import is_colocated
from .critic import ROLE, Critic, critic_class
from .exchange import check_exchange
from .guard import Guard

_PASSED = (
    "VLLM_",
    "SGL_",
    "SGLANG_",
    "HF_",
    "TOKENIZERS_",
    "TORCH_",
    "PYTORCH_",
    "NCCL_",
    "CUDA_",
    "OMP_",
    "VERL_",
)
"""What the workers may see of this process's environment. Keys of services are not among it."""
_END_SECONDS = 5.0
_TRIES = 5
_SLOW = "timed out during startup"
"""In what Ray says of a node that did not start in time."""
_WORKER_ENV = {
    "TOKENIZERS_PARALLELISM": "true",
    "NCCL_DEBUG": "WARN",
    "VLLM_LOGGING_LEVEL": "WARN",
    "CUDA_DEVICE_MAX_CONNECTIONS": "1",
    "NCCL_CUMEM_ENABLE": "0",
}


def run_hook(name: str) -> None:
    """Calls `module.function`."""
    module, _, function = name.rpartition(".")
    try:
        hook = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnsupportedError(f"The set-up hook {name!r} cannot be found: {error}.") from error
    hook()


def start_ray(ray: Any, end: Callable[[], None], tell: Callable[[str], None], **options: Any) -> None:
    """Ray gives its node 30 s, too few where a busy machine reads its files for the first time: tried `_TRIES` times."""
    for tried in range(1, _TRIES + 1):
        try:
            return ray.init(**options)
        except Exception as error:
            if _SLOW not in str(error):
                raise
            if tried == _TRIES:
                raise BridgeError(
                    f"Ray did not start here within its 30 s, {_TRIES} times: the machine is too busy, or lacks memory. "
                    "Or start it with `ray start --head`, and set verl.ray_address."
                ) from error
            end()
            tell(f"Ray did not start within its 30 s: trying again ({tried + 1} of {_TRIES}).")


def _runtime_env(hook: str | None) -> dict[str, Any]:
    passed = {key: value for key, value in os.environ.items() if key.startswith(_PASSED)}
    search = os.environ.get("PYTHONPATH", "")
    env: dict[str, Any] = {"env_vars": {**_WORKER_ENV, **passed, **({"PYTHONPATH": search} if search else {})}}
    if hook is not None:
        env["worker_process_setup_hook"] = hook
    # A job's own settings win, and Ray refuses the same key twice.
    job = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")).get("runtime_env", {})
    env["env_vars"] = {key: value for key, value in env["env_vars"].items() if key not in job.get("env_vars", {})}
    return {key: value for key, value in env.items() if key == "env_vars" or key not in job}


class Cluster:
    """The workers that train and the servers that sample."""

    def __init__(
        self,
        config: Any,
        options: Mapping[str, Any],
        has_reference: bool,
        has_critic: bool,
        tell: Callable[[str], None],
    ) -> None:
        """`has_reference`: keeps the model as it was loaded beside the one that is trained."""
        import ray

        self._tell = tell
        self._ray = ray
        self._owns_ray = not ray.is_initialized()
        hook = options.get("setup_hook")
        self._guard = Guard() if self._owns_ray and sys.platform == "linux" else None
        if self._owns_ray:
            # Without an address Ray would join whatever cluster ran here last.
            address = options.get("ray_address") or os.environ.get("RAY_ADDRESS") or "local"
            tell("Starting Ray." if address == "local" else f"Joining Ray at {address}.")
            start_ray(
                ray,
                self._end_ray,
                tell,
                address=address,
                runtime_env=_runtime_env(hook),
                log_to_driver=bool(options.get("log_workers", False)),
                **(dict(options.get("ray_init", {})) if address == "local" else {}),
            )
        try:
            self._open(config, has_reference, has_critic)
        except BaseException:
            self.close()
            raise

    def _open(self, config: Any, has_reference: bool, has_critic: bool) -> None:
        from verl.checkpoint_engine import CheckpointEngineManager, CheckpointEngineRegistry
        from verl.utils.config import omega_conf_to_dataclass
        from verl.utils.import_utils import import_external_libs
        from verl.workers.rollout.llm_server import LLMServerManager

        rollout = config.actor_rollout_ref.rollout
        settings = omega_conf_to_dataclass(rollout.checkpoint_engine)
        import_external_libs(settings.custom_backend_module or None)
        check_exchange(CheckpointEngineRegistry, settings.backend)
        self.is_colocated = is_colocated(config)
        training = [int(config.trainer.n_gpus_per_node)] * int(config.trainer.nnodes)
        serving = 0 if self.is_colocated else int(rollout.n_gpus_per_node) * int(rollout.nnodes)
        self._check_room(sum(training), serving)
        self._tell(f"Starting {sum(training)} training workers, which load the model.")
        self._start_workers(config, training, has_reference, has_critic)
        self._tell(f"Starting inference servers ({rollout.name}), which load the model too.")
        shared = {"worker_group": self.workers, "rollout_resource_pool": self.pool} if self.is_colocated else {}
        self.servers = LLMServerManager.create(config=config, **shared)
        names = inspect.signature(CheckpointEngineManager.__init__).parameters
        workers_name = "actor_wg" if "actor_wg" in names else "trainer"
        self.exchange = CheckpointEngineManager(
            config=settings, replicas=self.servers.rollout_replicas, **{workers_name: self.workers}
        )

    def _start_workers(self, config: Any, training: list[int], has_reference: bool, has_critic: bool) -> None:
        from verl.single_controller.ray import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup
        from verl.single_controller.ray.base import create_colocated_worker_cls
        from verl.utils.device import get_device_name

        from .. import limits
        from . import attention, critic_worker, objective, rates, token_losses, value_objective
        from . import worker as worker_module

        # Workers on other machines need not have this package.
        ours = (attention, critic_worker, objective, value_objective, token_losses, rates, limits)
        for module in (worker_module, *ours):
            self._ray.cloudpickle.register_pickle_by_value(module)
        self.pool = RayResourcePool(training, use_gpu=True, max_colocate_count=3)
        main = "actor_rollout" if self.is_colocated else "actor"
        roles = [main, "ref"] if has_reference else [main]
        classes = {
            role: RayClassWithInitArgs(
                cls=self._ray.remote(worker_module.BridgeWorker), config=config.actor_rollout_ref, role=role
            )
            for role in roles
        }
        if has_critic:
            classes[ROLE] = critic_class(config, self._ray)
        group = RayWorkerGroup(
            resource_pool=self.pool,
            ray_cls_with_init=create_colocated_worker_cls(classes),
            device_name=get_device_name(),
        )
        groups = group.spawn(prefix_set=list(classes))
        self.workers = groups[main]
        self.reference = groups.get("ref")
        self.critic = Critic(groups[ROLE]) if has_critic else None
        if has_critic:
            groups[ROLE].reset()
        # The actor last: what it leaves free is measured for the servers.
        for role in reversed(roles):
            groups[role].init_model()

    @property
    def data_parallel_size(self) -> int:
        return int(max(self.workers._query_dispatch_info("actor"))) + 1

    @property
    def world_size(self) -> int:
        return int(self.workers.world_size)

    @property
    def addresses(self) -> list[str]:
        return [f"http://{address}" for address in self.servers.server_addresses]

    def close(self) -> None:
        """Ends what was started here; a cluster that was joined goes on without it."""
        if not self._owns_ray:
            return
        self._end_ray()
        if self._guard is not None:
            self._guard.dismiss()

    def _end_ray(self) -> None:
        import psutil

        guard = None if self._guard is None else self._guard.pid
        started = [child for child in psutil.Process().children(recursive=True) if child.pid != guard]
        self._ray.shutdown()
        # Some of Ray's agents outlive it.
        _, alive = psutil.wait_procs(started, timeout=_END_SECONDS)
        for process in alive:
            process.kill()
        # Even a killed process takes a moment to give back its memory.
        psutil.wait_procs(alive, timeout=_END_SECONDS)

    def save(self, folder: Path, step: int) -> None:
        self.workers.save_checkpoint(str(folder / "actor"), None, step, None)
        if self.critic is not None:
            self.critic.save(folder, step)

    def load(self, folder: Path) -> None:
        # It is the one that may not be there, so nothing has changed then.
        if self.critic is not None:
            self.critic.load(folder)
        actor = folder / "actor"
        # Checkpoints of before there were critics have the policy alone.
        self.workers.load_checkpoint(str(actor if actor.exists() else folder), None, False)

    def _check_room(self, training: int, serving: int) -> None:
        """A placement that cannot be had would wait for ever."""
        from verl.utils.device import get_device_name

        name = "NPU" if get_device_name() == "npu" else "GPU"
        have = self._ray.cluster_resources().get(name, 0)
        if have < training + serving:
            wanted = f"{training} GPUs" if serving == 0 else f"{training} GPUs to train and {serving} to sample"
            raise UnsupportedError(
                f"{wanted} are wanted (nodes x GPUs of each), but Ray's cluster has {have:g}. "
                "Set verl.nodes and verl.gpus_per_node to what there is."
            )
