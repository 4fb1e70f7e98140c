/** `trainer-async`: steps per hour overlapped against in turns, on rollouts whose time is heavy-tailed. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { atLeast, atMost, compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import type { TrainInput, TrainOutput } from "./train-child.ts";

const child = new URL("train-child.ts", import.meta.url);

/** Both modes with the same seed, one right after the other. */
interface Pair {
  readonly turns: TrainOutput;
  readonly overlapped: TrainOutput;
}

export function asyncResults(pairs: readonly Pair[], steps: number, isShort: boolean): Result[] {
  const perHour = ({ seconds }: TrainOutput): number => (steps * 3600) / seconds;
  const ofTurns = pairs.map(({ turns }) => turns);
  const overlapped = pairs.map((pair) => pair.overlapped);
  const after = (runs: readonly TrainOutput[]): number =>
    median(runs.map((run) => run.validationAfter));
  const speed = {
    ours: median(overlapped.map(perHour)),
    peer: median(ofTurns.map(perHour)),
    peerName: "in turns",
    ratio: median(pairs.map((pair) => perHour(pair.overlapped) / perHour(pair.turns))),
  };
  const reward = {
    ours: after(overlapped),
    peer: after(ofTurns),
    peerName: "in turns",
    ratio: after(overlapped) / after(ofTurns),
  };
  return [
    compared("steps per hour", "1/h", speed, isShort ? undefined : atLeast(2)),
    compared("validation reward after", "", reward, isShort ? undefined : atLeast(0.97)),
    result("validation reward before", "", median(ofTurns.map((run) => run.validationBefore))),
    result(
      "oldest trained token",
      "versions",
      Math.max(...overlapped.map((r) => r.maxStale)),
      atMost(3),
    ),
    result(
      "share of a step spent waiting for rollouts",
      "",
      median(overlapped.map((r) => r.waitingFraction)),
    ),
  ];
}

export const trainerAsync: Benchmark = {
  name: "trainer-async",
  summary: "steps per hour and final reward, asynchronous rollouts compared with synchronous ones",
  async run({ quick, repetitions }, log) {
    const steps = quick ? 4 : 20;
    const pairs: Pair[] = [];
    for (let seed = 1; seed <= repetitions; seed++) {
      const train = (isAsync: boolean): Promise<TrainOutput> => {
        log(`seed ${seed}, ${isAsync ? "overlapped" : "in turns"} ...`);
        const input: TrainInput = { steps, seed, isAsync };
        return runChild<TrainOutput>(child, input);
      };
      pairs.push({ turns: await train(false), overlapped: await train(true) });
    }
    return asyncResults(pairs, steps, quick);
  },
};
