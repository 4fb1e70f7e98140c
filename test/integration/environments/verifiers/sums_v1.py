"""A taskset as people write them for verifiers: a prompt, and a reward of the last response."""

import verifiers.v1 as vf


class Data(vf.TaskData):
    answer: str


class Sum(vf.Task[Data, vf.State]):
    @vf.reward(weight=2.0)
    async def right(self, task: Data, trace) -> float:
        return float(task.answer in (trace.last_reply or ""))

    @vf.metric
    async def length(self, trace) -> float:
        return float(len(trace.last_reply or ""))


class Sums(vf.Taskset[Sum]):
    def load(self):
        for n in range(6):
            yield Sum(Data(prompt=f"What is {n} + {n}?", answer=str(2 * n)), self.config.task)


__all__ = ["Sums"]
