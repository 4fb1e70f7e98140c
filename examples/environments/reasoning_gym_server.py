"""The task families of reasoning-gym behind the Open Reward Standard, one environment each.

    pip install openreward reasoning-gym
    python reasoning_gym_server.py --port 8080
    agent-trainer train --env 'ors:http://127.0.0.1:8080#leg_counting' model.name=./Qwen3-0.6B

Other tasks with their right answers, to fine-tune on before:

    python reasoning_gym_server.py --examples leg_counting > examples.jsonl
    agent-trainer sft fine_tuning.train=examples.jsonl model.name=./Qwen3-0.6B
"""

import argparse
import asyncio
import json
import os
import re
import signal
import threading
import time
from contextlib import contextmanager

import reasoning_gym
from openreward.environments import Environment, Server, Split, TextBlock, ToolOutput, terminal, tool
from pydantic import BaseModel
from reasoning_gym.factory import DATASETS

# Far apart: many families make task i from seed + i.
SEEDS = {"train": 0, "test": 10_000_000, "examples": 20_000_000}
# The split whose questions a split must not have.
APART = {"test": "train", "examples": "test"}
# Tasks of each split; fewer where a family has not so many different ones.
SIZE = 200
# Options of families, by name.
CONFIG = {}
# A number_sequence squares a number 32 times in a row now and then; sympy computes 9**9**9**9 where it is a response.
TASK_SECONDS = 2
SPLIT_SECONDS = 40


class TooLong(BaseException):
    """Not an Exception, so that no handler of the package keeps it."""


@contextmanager
def limit(seconds):
    """Ends what runs in it, on the main thread, with a RuntimeError. Without SIGALRM (Windows) there is no limit."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    except TooLong:
        raise RuntimeError(f"It did not end within {seconds} seconds.") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Response(BaseModel):
    text: str


class Family(Environment):
    """One family: a question, and a score from 0 to 1 for the response."""

    family = ""
    made = {}

    @classmethod
    def list_splits(cls):
        return [Split(name=name, type=name) for name in ("train", "test")]

    @classmethod
    async def list_tasks(cls, split):
        _, entries = await cls.tasks(split)
        return [{"question": question, "split": split} for question in entries]

    # On the event loop and not in a thread, since signals end only what runs on the main thread.
    @classmethod
    async def tasks(cls, split):
        """The generator of a split, and its tasks by their questions."""
        if split not in cls.made:
            others = (await cls.tasks(APART[split]))[1] if split in APART else {}
            options = CONFIG.get(cls.family, {})
            tasks = reasoning_gym.create_dataset(cls.family, size=5 * SIZE, seed=SEEDS[split], **options)
            entries, problem = {}, "all questions are those of another split"
            end = time.monotonic() + SPLIT_SECONDS
            for i in range(5 * SIZE):
                try:
                    with limit(TASK_SECONDS):
                        entry = tasks[i]
                except Exception as error:
                    problem = f"task {i}: {error}"
                    continue
                if entry["question"] not in others:
                    entries.setdefault(entry["question"], entry)
                if len(entries) == SIZE or time.monotonic() > end:
                    break
                await asyncio.sleep(0)
            if not entries:
                raise RuntimeError(f"{cls.family} has no tasks: {problem}")
            cls.made[split] = (tasks, entries)
        return cls.made[split]

    def get_prompt(self):
        return [TextBlock(text=self.task_spec["question"])]

    @terminal
    @tool
    async def respond(self, params: Response) -> ToolOutput:
        """Scores the response: what is between <answer> and </answer>, or all of it."""
        tasks, entries = await self.tasks(self.task_spec["split"])
        entry = entries.get(self.task_spec["question"])
        if entry is None:
            raise ValueError("This server has no such task; it was started with other options.")
        tagged = re.findall(r"<answer>(.*?)</answer>", params.text, re.DOTALL)
        reward = score(tasks, entry, (tagged[-1] if tagged else params.text).strip())
        return ToolOutput(blocks=[TextBlock(text="Thank you.")], reward=reward, finished=True)


def score(tasks, entry, answer) -> float:
    try:
        with limit(TASK_SECONDS):
            return float(tasks.score_answer(answer, entry))
    except Exception:
        # Some scorers fail on text that has not the form of an answer.
        return 0.0


def end_with(parent: int) -> None:
    """A parent that is killed cannot end its servers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


async def write_examples(family) -> None:
    tasks, entries = await family.tasks("examples")
    for question, entry in entries.items():
        answer = str(entry["answer"])
        if score(tasks, entry, answer) == 1:
            print(json.dumps({"prompt": question, "completion": answer}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--family", action="append", help="only this one; repeat for several")
    parser.add_argument("--size", type=int, default=SIZE, help="tasks of each split")
    parser.add_argument("--config", type=json.loads, default={}, help='as {"gcd": {"max_value": 30}}')
    parser.add_argument("--parent", type=int, metavar="PID", help="end with this process, which has to be the parent")
    parser.add_argument("--examples", metavar="FAMILY", help="write tasks with their answers, and end")
    args = parser.parse_args()
    globals().update(SIZE=args.size, CONFIG=args.config)
    if args.parent is not None:
        threading.Thread(target=end_with, args=(args.parent,), daemon=True).start()
    # A composite is made of the others, by options.
    names = [args.examples] if args.examples else args.family or sorted(set(DATASETS) - {"composite"})
    families = [type(name, (Family,), {"family": name, "made": {}}) for name in names]
    if args.examples:
        asyncio.run(write_examples(families[0]))
    else:
        Server(families).run(host="127.0.0.1", port=args.port)


if __name__ == "__main__":
    main()
