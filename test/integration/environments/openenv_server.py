"""The official OpenEnv server with an environment of texts: one at a time, as by default."""

import sys
from uuid import uuid4

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Say(Action):
    message: str


class Heard(Observation):
    message: str


class Echo(Environment):
    def __init__(self):
        super().__init__()
        self._state = State(episode_id=str(uuid4()), step_count=0)
        self.seed = 0

    def reset(self, seed=None, episode_id=None, **kwargs):
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        self.seed = seed
        return Heard(message=f"Seed {seed}", done=False, reward=None)

    def step(self, action, timeout_s=None, **kwargs):
        self._state.step_count += 1
        if action.message == "crash":
            raise RuntimeError("boom")
        count = self._state.step_count
        return Heard(message=f"{count}: {action.message}", done=count == 2, reward=0.5)

    @property
    def state(self):
        return self._state


app = create_fastapi_app(Echo, Say, Heard)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
