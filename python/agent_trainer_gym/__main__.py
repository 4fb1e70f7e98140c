"""A task family of the package `reasoning-gym` for a process that speaks JSON lines on standard input and output.

Requests:  {"id", "method": "tasks", "split"} | {"id", "method": "score", "split", "question", "response"}
Responses: {"id", "result"} | {"id", "error", "final"}; the first line is {"id": null, "result": {"version"}}.

Started as `python -m agent_trainer_gym FAMILY`; ends with its standard input. With `--examples` it writes tasks of
another split with their right answers instead, to fine-tune on before:

    python agent_trainer_gym gcd --config '{"max_value": 30}' --examples > gcd.jsonl
"""

import argparse
import json
import math
import os
import re
import signal
import sys
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import reasoning_gym

# Far apart: many families make task i from seed + i.
SEEDS = {"train": 0, "test": 10_000_000, "examples": 20_000_000}
# The split whose questions a split must not have.
APART = {"test": "train", "examples": "test"}
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


class Family:
    """One family: questions, and a score from 0 to 1 for the response to one."""

    def __init__(self, name, size, config):
        self.name = name
        self.size = size
        self.config = config
        self.made = {}

    def entries(self, split):
        """The generator of a split, and its tasks by their questions; fewer than `size` where there are no more."""
        if split not in self.made:
            others = self.entries(APART[split])[1] if split in APART else {}
            tasks = reasoning_gym.create_dataset(
                self.name, size=5 * self.size, seed=SEEDS[split], **self.config
            )
            entries, problem = {}, "all questions are those of another split"
            end = time.monotonic() + SPLIT_SECONDS
            for i in range(5 * self.size):
                try:
                    with limit(TASK_SECONDS):
                        entry = tasks[i]
                except Exception as error:
                    problem = f"task {i}: {error}"
                    continue
                if entry["question"] not in others:
                    entries.setdefault(entry["question"], entry)
                if len(entries) == self.size or time.monotonic() > end:
                    break
            if not entries:
                raise RuntimeError(f"{self.name} has no tasks: {problem}")
            self.made[split] = (tasks, entries)
        return self.made[split]

    def tasks(self, request):
        split = request["split"]
        if split not in ("train", "test"):
            raise ValueError(f'{self.name} has the splits train and test; "{split}" was asked for.')
        return list(self.entries(split)[1])

    def score(self, request):
        """Scores what is between <answer> and </answer>, or all of the response."""
        tasks, entries = self.entries(request["split"])
        entry = entries.get(request["question"])
        if entry is None:
            raise ValueError("There is no such task; it was made with other options.")
        tagged = re.findall(r"<answer>(.*?)</answer>", request["response"], re.DOTALL)
        return score(tasks, entry, (tagged[-1] if tagged else request["response"]).strip())


def score(tasks, entry, answer) -> float:
    try:
        with limit(TASK_SECONDS):
            reward = float(tasks.score_answer(answer, entry))
    except Exception:
        # Some scorers fail on text that has not the form of an answer.
        return 0.0
    return reward if math.isfinite(reward) else 0.0


def serve(family: Family) -> None:
    # What a family prints must not be taken for a response.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def respond(request_id, **fields) -> None:
        out.write(json.dumps({"id": request_id, **fields}) + "\n")
        out.flush()

    try:
        found = version("reasoning-gym")
    except PackageNotFoundError:
        found = None
    respond(None, result={"version": found})
    methods = {"tasks": family.tasks, "score": family.score}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        # Nothing is cancelled: every task and score has its limit of time.
        if request["method"] not in methods:
            continue
        try:
            result = methods[request["method"]](request)
        except Exception as error:
            respond(request["id"], error=f"{type(error).__name__}: {error}", final=True)
        else:
            respond(request["id"], result=result)


def write_examples(family: Family) -> None:
    tasks, entries = family.entries("examples")
    for question, entry in entries.items():
        answer = str(entry["answer"])
        if score(tasks, entry, answer) == 1:
            print(json.dumps({"prompt": question, "completion": answer}))


def main() -> None:
    parser = argparse.ArgumentParser(prog="agent_trainer_gym")
    parser.add_argument("family")
    parser.add_argument("--size", type=int, default=200, help="tasks of each split")
    parser.add_argument("--config", type=json.loads, default={}, help='as {"max_value": 30}')
    parser.add_argument("--examples", action="store_true", help="write tasks with their answers, and end")
    args = parser.parse_args()
    family = Family(args.family, args.size, args.config)
    if args.examples:
        write_examples(family)
    else:
        serve(family)


if __name__ == "__main__":
    main()
