"""Recipes of the tinker-cookbook, as they are, on a data set made here.

    python cookbook.py sl LOG_FOLDER STEPS LEARNING_RATE
    python cookbook.py LOSS LOG_FOLDER STEPS LEARNING_RATE     (the recipe by rewards, with that loss)
    python cookbook.py math LOG_FOLDER STEPS LEARNING_RATE     (math_rl with its own loss: rl/train in order)
    python cookbook.py math-async LOG_FOLDER STEPS LEARNING_RATE     (the same, up to a step off policy)
    python cookbook.py download TINKER_PATH FOLDER

The working directory holds the model's files at Qwen/Qwen3-8B: a name that the cookbook has a renderer
for. Prints the metrics of every step as JSON.
"""

import json
import sys
from pathlib import Path

import datasets

ITEMS = ["mug", "plate", "clock", "shirt", "pen", "book", "hat", "desk"]


def talk(item):
    call = '<tool_call>\n{"name": "get_price", "arguments": {"item": "%s"}}\n</tool_call>' % item
    return [
        {"role": "user", "content": f"How much do 3 {item}s cost?"},
        {"role": "assistant", "content": call},
    ]


def load_dataset(name, *_):
    columns = {
        "HuggingFaceH4/no_robots": {"messages": [talk(item) for item in ITEMS * 20]},
        "openai/gsm8k": {"question": [talk(item)[0]["content"] for item in ITEMS * 20], "answer": ["#### 3"] * 160},
    }
    return datasets.DatasetDict(train=datasets.Dataset.from_dict(columns[name]))


datasets.load_dataset = load_dataset

if sys.argv[1] == "download":
    from tinker_cookbook import weights

    weights.download(tinker_path=sys.argv[2], output_dir=sys.argv[3])
    print(json.dumps(sorted(path.name for path in Path(sys.argv[3]).iterdir())))
    sys.exit()

kind, log_path, steps, rate = sys.argv[1:]
shared = dict(
    model_name="Qwen/Qwen3-8B",
    log_path=log_path,
    batch_size=8,
    lora_rank=8,
    learning_rate=float(rate),
    save_every=2,
    max_steps=int(steps),
)
if kind == "sl":
    from tinker_cookbook.recipes import sl_loop

    sl_loop.main(sl_loop.Config(**shared))
elif kind in ("math", "math-async"):
    import asyncio

    from tinker_cookbook.recipes.math_rl import arithmetic_env, train

    # So small a model cannot add: what is mostly small letters is right.
    arithmetic_env.ArithmeticEnv.check_answer = lambda _env, text: sum(c.islower() for c in text) > len(text) / 2
    options = dict(model_name=shared["model_name"], log_path=log_path, learning_rate=float(rate), lora_rank=8)
    options |= dict(groups_per_batch=4, group_size=4, max_steps=int(steps), eval_every=0, save_every=2)
    off_policy = 1 if kind == "math-async" else None
    asyncio.run(train.cli_main(train.CLIConfig(**options, max_steps_off_policy=off_policy)))
else:
    from tinker_cookbook.recipes import rl_loop

    # The recipe grades maths, which so small a model never gets right: small letters are in its reach.
    rl_loop.get_reward = lambda text, _answer: sum(c.islower() for c in text) / max(1, len(text))
    rl_loop.main(rl_loop.Config(**shared, group_size=8, max_tokens=16, loss_fn=kind))

print(json.dumps([json.loads(line) for line in Path(log_path, "metrics.jsonl").read_text().splitlines()]))
