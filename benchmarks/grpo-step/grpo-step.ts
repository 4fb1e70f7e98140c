/** `grpo-step`: a whole step of GRPO, rollouts and update, compared with TRL's GRPOTrainer, in turns. */
import { fileURLToPath } from "node:url";
import { defaultThreads, type ModelCase, writeSmolModel } from "../engine/models.ts";
import { hasTorch, startPython, torchVersions } from "../engine-peers/torch-environment.ts";
import { type PeerPrecision, peerPrecisions } from "../engine-peers/peers.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { LineProcess } from "../harness/line-process.ts";
import { goalOf, kernels } from "../harness/kernel-goals.ts";
import { atLeast, atMost, compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";

export interface StepSize {
  readonly prompts: number;
  readonly rollouts: number;
  readonly promptTokens: number;
  /** Every rollout is as long. */
  readonly newTokens: number;
}

interface StepAnswer {
  readonly seconds: number;
  readonly samplingSeconds: number;
  readonly peakMiB: number;
}

const fullSize: StepSize = { prompts: 16, rollouts: 8, promptTokens: 64, newTokens: 64 };
/** Without products of bf16, where TRL's step of the full size takes some six minutes on two cores. */
const portableSize: StepSize = { ...fullSize, prompts: 4 };
const quickSize: StepSize = { prompts: 2, rollouts: 2, promptTokens: 16, newTokens: 8 };

const labelOf = (size: StepSize): string =>
  `${size.prompts} prompts of ${size.promptTokens} tokens x ${size.rollouts} rollouts of ${size.newTokens}`;

const medianOf = (answers: readonly StepAnswer[], read: (answer: StepAnswer) => number): number =>
  median(answers.map(read));

function resultsAlone(size: StepSize, mine: readonly StepAnswer[]): readonly Result[] {
  const label = labelOf(size);
  return [
    result(
      `${label}: a step`,
      "s",
      medianOf(mine, ({ seconds }) => seconds),
    ),
    result(
      `${label}: rollouts of it`,
      "s",
      medianOf(mine, ({ samplingSeconds }) => samplingSeconds),
    ),
    result(`${label}: peak memory`, "MiB", Math.max(...mine.map(({ peakMiB }) => peakMiB))),
  ];
}

/** Goals of the whole step. */
const goals = goalOf({
  native: { f32: 9, bf16: 5, memory: 0.2 },
  portable: { f32: 5, bf16: undefined, memory: 0.25 },
});

interface Pairs {
  readonly mine: readonly StepAnswer[];
  readonly theirs: readonly StepAnswer[];
  readonly peerName: string;
}

function resultsBeside(
  size: StepSize,
  precision: PeerPrecision,
  { mine, theirs, peerName }: Pairs,
): readonly Result[] {
  const label = labelOf(size);
  const updating = ({ seconds, samplingSeconds }: StepAnswer): number => seconds - samplingSeconds;
  const line = (what: string, read: (answer: StepAnswer) => number, goal?: number): Result =>
    compared(
      `${label}: ${what}`,
      "steps/h",
      {
        ours: 3600 / medianOf(mine, read),
        peer: 3600 / medianOf(theirs, read),
        peerName,
        ratio: median(mine.map((answer, i) => read(theirs[i]!) / read(answer))),
      },
      goal === undefined ? undefined : atLeast(goal),
    );
  const peak = (side: readonly StepAnswer[]): number =>
    Math.max(...side.map(({ peakMiB }) => peakMiB));
  const memory = { ours: peak(mine), peer: peak(theirs), peerName };
  return [
    line("a step", ({ seconds }) => seconds, goals[precision]),
    line("its rollouts alone", ({ samplingSeconds }) => samplingSeconds),
    line("its update alone", updating),
    compared(
      `${label}: peak memory`,
      "MiB",
      { ...memory, ratio: memory.ours / memory.peer },
      atMost(goals.memory),
    ),
  ];
}

async function startEngine(model: ModelCase): Promise<LineProcess> {
  const ours = new LineProcess("our engine", process.execPath, [
    ...process.execArgv,
    fileURLToPath(new URL("grpo-child.ts", import.meta.url)),
  ]);
  await ours.ask({ do: "open", model });
  return ours;
}

/** Ours and TRL in turns. One precision at a time: two trainers and ours would not fit into 24 GiB. */
async function besideTrl(
  model: ModelCase,
  size: StepSize,
  precision: PeerPrecision,
  repetitions: number,
  log: (line: string) => void,
): Promise<Pairs> {
  using ours = await startEngine(model);
  using peer = startPython(`TRL, ${precision}`, new URL("trl_peer.py", import.meta.url));
  const { trl } = await peer.ask<{ trl: string }>({
    do: "open",
    folder: model.folder,
    rank: model.loraRank,
    threads: defaultThreads(),
    steps: 2 * repetitions,
    precision,
    ...size,
  });
  const mine: StepAnswer[] = [];
  const theirs: StepAnswer[] = [];
  for (let i = 1; i <= repetitions; i++) {
    log(`${precision}: turn ${i} of ${repetitions}, two steps of each ...`);
    const own = await ours.askWarm<StepAnswer>({ do: "step", ...size });
    const other = await peer.askWarm<StepAnswer>({ do: "step" });
    log(`  ours ${own.seconds.toFixed(1)} s, TRL ${other.seconds.toFixed(1)} s`);
    mine.push(own);
    theirs.push(other);
  }
  return { mine, theirs, peerName: `TRL ${trl}, ${precision}` };
}

export const grpoStep: Benchmark = {
  name: "grpo-step",
  summary: "a step of GRPO with LoRA, rollouts and update, compared with TRL",
  peerVersions: torchVersions,
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const model = await writeSmolModel(folder.path);
    const usualSize = kernels.hasBfloat16 ? fullSize : portableSize;
    const size = quick ? quickSize : usualSize;
    if (!hasTorch()) {
      log("Not compared with TRL: npm run bench:setup:torch installs it.");
      using ours = await startEngine(model);
      const answers: StepAnswer[] = [];
      for (let i = 0; i < repetitions; i++)
        answers.push(await ours.askWarm({ do: "step", ...size }));
      return resultsAlone(size, answers);
    }
    const results: Result[] = [];
    for (const precision of peerPrecisions(log)) {
      const pairs = await besideTrl(model, size, precision, repetitions, log);
      results.push(...resultsBeside(size, precision, pairs));
    }
    return results;
  },
};
