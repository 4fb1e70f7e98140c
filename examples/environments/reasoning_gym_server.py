"""The task families of reasoning-gym behind the Open Reward Standard, one environment each.

    pip install openreward reasoning-gym
    python reasoning_gym_server.py --port 8080
    agent-trainer train --env 'ors:http://127.0.0.1:8080#leg_counting' model.name=./Qwen3-0.6B
"""

import argparse
import re

import reasoning_gym
from openreward.environments import Environment, Server, Split, TextBlock, ToolOutput, terminal, tool
from pydantic import BaseModel
from reasoning_gym.factory import DATASETS

SEEDS = {"train": 0, "test": 1}
SIZE = 200


class Response(BaseModel):
    text: str


class Family(Environment):
    """One family: a question, and a score from 0 to 1 for the response."""

    family = ""

    @classmethod
    def list_splits(cls):
        return [Split(name=name, type=name) for name in SEEDS]

    @classmethod
    def list_tasks(cls, split):
        # The answers stay here: an entry is made again from its seed and index.
        tasks = reasoning_gym.create_dataset(cls.family, size=SIZE, seed=SEEDS[split])
        return [{"question": tasks[i]["question"], "split": split, "index": i} for i in range(SIZE)]

    def __init__(self, task_spec={}, secrets={}):
        super().__init__(task_spec)
        seed = SEEDS[task_spec["split"]]
        self.tasks = reasoning_gym.create_dataset(self.family, size=SIZE, seed=seed)
        self.entry = self.tasks[task_spec["index"]]

    def get_prompt(self):
        return [TextBlock(text=self.entry["question"])]

    @terminal
    @tool
    async def respond(self, params: Response) -> ToolOutput:
        """Scores the response: what is between <answer> and </answer>, or all of it."""
        tagged = re.findall(r"<answer>(.*?)</answer>", params.text, re.DOTALL)
        answer = (tagged[-1] if tagged else params.text).strip()
        try:
            reward = float(self.tasks.score_answer(answer, self.entry))
        except Exception:
            # Some scorers fail on text that has not the form of an answer.
            reward = 0.0
        return ToolOutput(blocks=[TextBlock(text="Thank you.")], reward=reward, finished=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--family", action="append", help="only this one; repeat for several")
    parser.add_argument("--size", type=int, default=SIZE, help="tasks of each split")
    args = parser.parse_args()
    globals()["SIZE"] = args.size
    # A composite is made of the others, by options.
    names = args.family or sorted(set(DATASETS) - {"composite"})
    families = [type(name, (Family,), {"family": name}) for name in names]
    Server(families).run(host="127.0.0.1", port=args.port)


if __name__ == "__main__":
    main()
