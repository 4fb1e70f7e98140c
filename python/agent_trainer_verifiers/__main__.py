"""Environments of the package `verifiers` for a process that speaks JSON lines on standard input and output.

Requests:  {"id", "method": "tasks", "split", "start", "stop"} | {"id", "method": "run", "task", "base_url",
           "api_key", "model"} | {"id", "method": "cancel", "run"}
Responses: {"id", "result"} | {"id", "error", "final"}; the first line is {"id": null, "result": {"version"}}.

Started as `python -m agent_trainer_verifiers NAME [CONFIG]`, CONFIG being a JSON object with fields of the
environment's configuration. Ends with its standard input.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sys
import threading


def merged(defaults: dict, given: dict) -> dict:
    """`given` over `defaults`, object by object."""
    both = dict(defaults)
    for key, value in given.items():
        nested = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if nested else value
    return both


def load(name: str, config: dict):
    """The environment, whose agents run on this machine unless `config` says otherwise."""
    from verifiers.v1.configs.agent import agent_config_fields
    from verifiers.v1.configs.env import EnvConfig
    from verifiers.v1.env import Env
    from verifiers.v1.utils.generic import concrete_type
    from verifiers.v1.utils.loaders import default_harness_id, environment_class, load_environment

    kind = environment_class(name, config.get("id", ""))
    config_type = concrete_type(kind, EnvConfig, origin=Env) or EnvConfig
    # A loop over the chat API, where the taskset has no program of its own.
    harness = {} if default_harness_id(name) == name else {"harness": {"id": "null"}}
    here = {"runtime": {"type": "subprocess"}, **harness}
    roles = {role: here for role in agent_config_fields(config_type())}
    return load_environment(config_type(**merged({"taskset": {"id": name}, **roles}, config)))


class Final(Exception):
    """Another attempt would fail in the same way."""


class Bridge:
    def __init__(self, env, write):
        self.env = env
        self.write = write
        self.running: dict[object, asyncio.Task] = {}

    def respond(self, request_id, **fields) -> None:
        self.write(json.dumps({"id": request_id, **fields}))

    async def handle(self, request: dict) -> None:
        request_id = request["id"]
        try:
            result = await getattr(self, request["method"])(request)
            self.respond(request_id, result=result)
        except asyncio.CancelledError:
            self.respond(request_id, error="The run was cancelled.", final=True)
        except Exception as error:
            self.respond(request_id, error=f"{type(error).__name__}: {error}", final=isinstance(error, Final))
        finally:
            self.running.pop(request_id, None)

    async def tasks(self, request: dict) -> list[dict]:
        taskset = self.of_split(request["split"])
        found = itertools.islice(iter(taskset), request["start"], request["stop"])
        # Reading a dataset may take long, and runs go on meanwhile.
        return await asyncio.to_thread(
            lambda: [
                {"data": task.data.model_dump(mode="json"), "text": task.data.prompt_text}
                for task in found
            ]
        )

    def of_split(self, split: str):
        """Tasksets have no splits; many have a field of that name in their configuration."""
        from verifiers.v1.utils.loaders import load_taskset

        config = self.env.config.taskset
        if "split" in type(config).model_fields:
            return load_taskset(config.model_copy(update={"split": split}))
        if split != "train":
            raise Final(f'The taskset {config.id} has one split, "train"; "{split}" was asked for.')
        return self.env.taskset

    async def run(self, request: dict) -> dict:
        from verifiers.v1.clients import ModelContext
        from verifiers.v1.configs.client import EvalClientConfig
        from verifiers.v1.types import SamplingConfig

        task_type = type(self.env.taskset).task_type()
        data = task_type.data_type().model_validate(request["task"])
        task = task_type(data, self.env.config.taskset.task)
        # Each run has a key of its own, which their configuration takes from a variable only.
        variable = f"AGENT_TRAINER_KEY_{request['id']}"
        os.environ[variable] = request["api_key"]
        client = EvalClientConfig(base_url=request["base_url"], api_key_var=variable)
        context = ModelContext(client=client, model=request["model"], sampling=SamplingConfig())
        try:
            (slot,) = self.env.slots(task)
            episode = await self.env.run_slot(slot, context)
        finally:
            os.environ.pop(variable, None)
        errors = [*episode.errors, *(error for trace in episode.traces for error in trace.errors)]
        if not episode.ok:
            words = [f"{error.type}: {error.message}" for error in errors]
            raise RuntimeError(words[-1] if words else "The episode did not complete.")
        rewards: dict[str, float] = {}
        metrics: dict[str, float] = {}
        for trace in episode.traces:
            for name, record in trace.rewards.items():
                if record is not None:
                    rewards[name] = rewards.get(name, 0.0) + record.value
            metrics.update({k: float(v) for k, v in trace.metrics.items() if v is not None})
        return {
            "reward": sum(trace.reward for trace in episode.traces),
            "rewards": rewards,
            "metrics": metrics,
            "stop": [trace.stop_condition for trace in episode.traces],
        }

    async def cancel(self, request: dict) -> bool:
        task = self.running.get(request["run"])
        return task is not None and task.cancel()


def read_lines(loop, queue) -> None:
    for line in sys.stdin.buffer:
        loop.call_soon_threadsafe(queue.put_nowait, line)
    loop.call_soon_threadsafe(queue.put_nowait, None)


async def serve(name: str, config: dict) -> None:
    # What an environment prints must not be taken for a response.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def write(line: str) -> None:
        out.write(line + "\n")
        out.flush()

    try:
        import verifiers

        env = load(name, config)
    except Exception as error:
        write(json.dumps({"id": None, "error": f"{type(error).__name__}: {error}", "final": True}))
        return
    bridge = Bridge(env, write)
    queue: asyncio.Queue = asyncio.Queue()
    reader = (asyncio.get_running_loop(), queue)
    threading.Thread(target=read_lines, args=reader, daemon=True).start()
    async with env.serving():
        bridge.respond(None, result={"version": verifiers.__version__})
        while (line := await queue.get()) is not None:
            request = json.loads(line)
            bridge.running[request["id"]] = asyncio.create_task(bridge.handle(request))
        for task in list(bridge.running.values()):
            task.cancel()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.gather(*bridge.running.values()), 10)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}))
