"""Hands weights from workers that train to servers elsewhere through an actor of Ray: verl's own ways need GPUs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any

import ray
import torch
from verl.checkpoint_engine.base import CheckpointEngine, CheckpointEngineRegistry


class _Mailbox:
    def __init__(self) -> None:
        self.sent: dict[int, dict[str, Any]] = {}

    def put(self, version: int, weights: dict[str, Any]) -> None:
        self.sent = {version: weights}

    def take(self, version: int) -> dict[str, Any] | None:
        return self.sent.get(version)


@CheckpointEngineRegistry.register("stub")
class StubExchange(CheckpointEngine):
    def __init__(self, bucket_size: int, is_master: bool = False) -> None:
        self.is_master = is_master
        self.mailbox: Any = None

    def prepare(self) -> dict[str, Any]:
        return {}

    @classmethod
    def build_topology(
        cls, actor_wg_world_size: int, rollout_world_size: int, metadata: list[dict[str, Any]]
    ) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        name = ["stub_mailbox"]
        return {"name": name * actor_wg_world_size}, {"name": name * rollout_world_size}

    def init_process_group(self, name: str) -> None:
        options = {"name": name, "get_if_exists": True, "num_cpus": 0, "lifetime": "detached"}
        self.mailbox = ray.remote(_Mailbox).options(**options).remote()

    def finalize(self) -> None: ...

    async def send_weights(
        self, weights: Generator[tuple[str, torch.Tensor], None, None], global_steps: int | None = None
    ) -> None:
        # Every rank takes part, since each holds a shard.
        whole = {name: tensor.detach().cpu().float().numpy() for name, tensor in weights}
        if self.is_master:
            await self.mailbox.put.remote(global_steps, whole)

    async def receive_weights(self, global_steps: int | None = None) -> AsyncGenerator[tuple[str, torch.Tensor], None]:
        while (found := await self.mailbox.take.remote(global_steps)) is None:
            await asyncio.sleep(0.05)
        for name, value in found.items():
            # What Ray hands out cannot be written to.
            yield name, torch.from_numpy(value.copy())
