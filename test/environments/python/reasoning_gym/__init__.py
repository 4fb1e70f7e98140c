"""What `agent_trainer_gym` uses of the package, with one family: sums, and what goes wrong in families of the real one."""

import os


class Sums:
    def __init__(self, size, seed, first=0, slow=None, same=False):
        self.first = first if same else first + seed
        self.slow = slow
        print('{"id": 1, "result": "not a response"}')

    def __getitem__(self, i):
        while i == self.slow:
            pass
        n = self.first + i // 2
        return {"question": f"{n} + 1 =", "answer": str(n + 1)}

    def score_answer(self, answer, entry):
        while answer == "forever":
            pass
        if answer == "die":
            os._exit(3)
        if answer == "nan":
            return float("nan")
        return 1.0 if int(answer) == int(entry["answer"]) else 0.01


def create_dataset(name, **options):
    if name != "sums":
        raise ValueError(f"Dataset '{name}' not registered")
    return Sums(**options)
