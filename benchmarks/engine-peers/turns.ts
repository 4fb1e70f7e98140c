/** Ours and peers in turns: each has a process of its own and waits while another works. */
import { fileURLToPath } from "node:url";
import type { ModelCase } from "../engine/models.ts";
import { LineProcess } from "../harness/line-process.ts";
import { median } from "../harness/statistics.ts";
import type { OpenPeer, PeerKind } from "./peers.ts";
import type { SampleTurn, TrainTurn, TurnAnswer } from "./turn.ts";

/** Of one side, over all turns. */
export interface Side {
  /** Median. */
  readonly seconds: number;
  readonly peakMiB: number;
}

export interface PeerTurns {
  readonly name: string;
  readonly side: Side;
  /** Of speeds, ours to the peer's: median over pairs of turns of one round. */
  readonly ratio: number;
}

export interface Turns {
  readonly ours: Side;
  /** As they were given. */
  readonly peers: readonly PeerTurns[];
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

function sideOf(answers: readonly TurnAnswer[]): Side {
  return {
    seconds: median(answers.map(({ seconds }) => seconds)),
    peakMiB: Math.max(...answers.map(({ peakMiB }) => peakMiB)),
  };
}

/** One round after another, each side once a round; of each turn, the second half is measured. */
export async function takeTurns(
  model: ModelCase,
  turn: TrainTurn | SampleTurn,
  repetitions: number,
  kinds: readonly PeerKind[],
): Promise<Turns> {
  using ours = startOurs();
  const peers: { readonly peer: OpenPeer; readonly answers: TurnAnswer[] }[] = [];
  using _ = {
    [Symbol.dispose](): void {
      for (const { peer } of peers) peer.process[Symbol.dispose]();
    },
  };
  await ours.ask({ do: "open", model });
  for (const kind of kinds) peers.push({ peer: await kind.open(model, turn), answers: [] });
  const mine: TurnAnswer[] = [];
  const peaks: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    mine.push(await ours.askWarm(turn));
    for (const { peer, answers } of peers) answers.push(await peer.process.askWarm(turn));
    peaks.push((await ours.ask<{ gflops: number }>({ do: "matmulPeak" })).gflops);
  }
  return {
    ours: sideOf(mine),
    peers: peers.map(({ peer: { name }, answers }) => ({
      name,
      side: sideOf(answers),
      ratio: median(mine.map(({ seconds }, i) => answers[i]!.seconds / seconds)),
    })),
    gflops: median(peaks),
  };
}
