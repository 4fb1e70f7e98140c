"""The official ORS server with an environment that has what the template lacks."""

import asyncio
import sys

from pydantic import BaseModel
from openreward.environments import Environment, Server, Split, TextBlock, ToolOutput, tool


class Empty(BaseModel):
    pass


class Number(BaseModel):
    value: int


RUNS: dict[str, int] = {}


class Workshop(Environment):
    """Counts its steps, so that a call that ran twice shows."""

    def __init__(self, task_spec={}, secrets={}):
        super().__init__(task_spec)
        self.steps = 0
        self.secrets = secrets

    @classmethod
    def list_splits(cls):
        return [Split(name="train", type="train"), Split(name="test", type="test")]

    @classmethod
    def list_tasks(cls, split):
        return [{"question": f"Count to {i}", "n": i} for i in range(1, 8)]

    def get_prompt(self):
        return [TextBlock(text=f"Count to {self.task_spec['n']}.")]

    @tool
    async def step(self, params: Empty) -> ToolOutput:
        """Counts one further."""
        self.steps += 1
        done = self.steps >= int(self.task_spec["n"])
        return ToolOutput(blocks=[TextBlock(text=str(self.steps))], reward=0.5, finished=done)

    @tool
    async def long(self, params: Number) -> ToolOutput:
        """A long result."""
        return ToolOutput(blocks=[TextBlock(text="äß" * params.value)], reward=0.0, finished=False)

    @tool
    async def slow(self, params: Number) -> ToolOutput:
        """Takes so many seconds."""
        await asyncio.sleep(params.value)
        self.steps += 1
        return ToolOutput(blocks=[TextBlock(text=str(self.steps))], reward=None, finished=False)

    @tool
    async def secret(self, params: Empty) -> ToolOutput:
        """Tells which secrets it has."""
        names = ",".join(sorted(self.secrets))
        return ToolOutput(blocks=[TextBlock(text=names)], reward=None, finished=False)

    @tool
    async def crash(self, params: Empty) -> ToolOutput:
        """Fails."""
        raise RuntimeError("boom")


if __name__ == "__main__":
    Server([Workshop]).run(host="127.0.0.1", port=int(sys.argv[1]))
