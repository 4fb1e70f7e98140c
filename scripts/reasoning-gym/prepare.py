"""The best constant answer of a family as a JSON line: its reward is reached without reading the question."""

import argparse
import json
import statistics
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from agent_trainer_gym.__main__ import Family, score  # noqa: E402


def scores(made, answer, limit=None):
    tasks, entries = made
    return [score(tasks, entry, answer) for entry in list(entries.values())[:limit]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("family")
    parser.add_argument("--size", type=int, required=True, help="tasks of each split")
    parser.add_argument("--config", type=json.loads, required=True)
    parser.add_argument("--constants", type=int, required=True, help="frequent answers to compare")
    args = parser.parse_args()
    family = Family(args.family, args.size, args.config)
    made = family.entries("examples")
    right = [str(entry["answer"]) for entry in made[1].values()]
    # Chosen on examples, measured on the held-out split.
    frequent = [answer for answer, _ in Counter(right).most_common(args.constants)]
    best = max(frequent, key=lambda answer: sum(scores(made, answer, 128)))
    held_out = scores(family.entries("test"), best)
    error = statistics.stdev(held_out) / len(held_out) ** 0.5
    print(json.dumps({"answer": best, "mean": statistics.fmean(held_out), "error": error}))


if __name__ == "__main__":
    main()
