"""What is wrong with each family of reasoning-gym as the program of this package serves it, as JSON; null is nothing."""

import contextlib
import json
import sys
from pathlib import Path

from reasoning_gym.factory import DATASETS

sys.path.insert(0, str(Path(__file__).parents[3] / "python"))
from agent_trainer_gym.__main__ import Family  # noqa: E402


def problem(name: str) -> str | None:
    try:
        family = Family(name, 3, {})
        questions = family.tasks({"split": "train"})
        request = {"split": "train", "question": questions[0], "response": "no answer"}
        reward = family.score(request)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if len(questions) == 3 and 0 <= reward < 1 else f"{len(questions)} tasks, reward {reward}"


# A composite is made of the others, by options. Some families print what they do.
with contextlib.redirect_stdout(sys.stderr):
    problems = {name: problem(name) for name in sorted(set(DATASETS) - {"composite"})}
print(json.dumps(problems))
