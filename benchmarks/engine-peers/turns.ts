/** Ours and PyTorch in turns: each has a process of its own and waits while the other works. */
import { fileURLToPath } from "node:url";
import { defaultThreads, type ModelCase } from "../engine/models.ts";
import { LineProcess } from "../harness/line-process.ts";
import { median } from "../harness/statistics.ts";
import { startPython } from "./torch-environment.ts";

export interface OpenRequest {
  readonly do: "open";
}

export interface TrainTurn {
  readonly do: "train";
  readonly rows: number;
  readonly tokens: number;
}

export interface SampleTurn {
  readonly do: "sample";
  readonly batch: number;
  readonly promptTokens: number;
  readonly newTokens: number;
}

export interface TurnAnswer {
  readonly seconds: number;
  readonly peakMiB: number;
}

/** Of one side, over all turns. */
export interface Side {
  /** Median. */
  readonly seconds: number;
  readonly peakMiB: number;
}

export interface Turns {
  readonly ours: Side;
  readonly peer: Side;
  /** Of speeds, ours to the peer's: median over pairs of turns, one right after the other. */
  readonly ratio: number;
  readonly peerName: string;
  /** Matrix products alone, in our process, between the turns. */
  readonly gflops: number;
}

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export function startOurs(): LineProcess {
  return new LineProcess("our engine", process.execPath, [
    ...process.execArgv,
    fileOf("turns-child.ts"),
  ]);
}

/** Alternates; of each turn, the second half is measured. */
export async function takeTurns(
  model: ModelCase,
  turn: TrainTurn | SampleTurn,
  repetitions: number,
): Promise<Turns> {
  using ours = startOurs();
  using peer = startPython("PyTorch", new URL("torch_peer.py", import.meta.url));
  const { folder, loraRank } = model;
  await ours.ask({ do: "open", model });
  // Sampling is compared with the bare model: PEFT's adapters would slow the peer down.
  const rank = turn.do === "train" ? loraRank : null;
  const versions = await peer.ask<{ torch: string; transformers: string }>({
    do: "open",
    folder,
    threads: defaultThreads(),
    rank,
  });
  const mine: TurnAnswer[] = [];
  const theirs: TurnAnswer[] = [];
  const peaks: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    mine.push(await ours.askWarm(turn));
    theirs.push(await peer.askWarm(turn));
    peaks.push((await ours.ask<{ gflops: number }>({ do: "matmulPeak" })).gflops);
  }
  const side = (answers: readonly TurnAnswer[]): Side => ({
    seconds: median(answers.map(({ seconds }) => seconds)),
    peakMiB: Math.max(...answers.map(({ peakMiB }) => peakMiB)),
  });
  return {
    ours: side(mine),
    peer: side(theirs),
    ratio: median(mine.map(({ seconds }, i) => theirs[i]!.seconds / seconds)),
    peerName: `PyTorch ${versions.torch}, transformers ${versions.transformers}`,
    gflops: median(peaks),
  };
}
