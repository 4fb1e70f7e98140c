/** `grpo-step`: a whole step of GRPO, rollouts and update, beside TRL's GRPOTrainer, in turns. */
import { fileURLToPath } from "node:url";
import { defaultThreads, writeSmolModel } from "../engine/models.ts";
import { hasTorch, startPython, torchVersions } from "../engine-peers/torch-environment.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { LineProcess } from "../harness/line-process.ts";
import { atLeast, compared, type Result, result } from "../harness/result.ts";
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
const quickSize: StepSize = { prompts: 2, rollouts: 2, promptTokens: 16, newTokens: 8 };

function resultsOf(
  size: StepSize,
  mine: readonly StepAnswer[],
  theirs: readonly StepAnswer[],
  peerName: string,
): readonly Result[] {
  const label = `${size.prompts} prompts of ${size.promptTokens} tokens x ${size.rollouts} rollouts of ${size.newTokens}`;
  const of = (side: readonly StepAnswer[], read: (answer: StepAnswer) => number): number =>
    median(side.map(read));
  const updating = ({ seconds, samplingSeconds }: StepAnswer): number => seconds - samplingSeconds;
  if (theirs.length === 0) {
    return [
      result(
        `${label}: a step`,
        "s",
        of(mine, ({ seconds }) => seconds),
      ),
      result(
        `${label}: rollouts of it`,
        "s",
        of(mine, ({ samplingSeconds }) => samplingSeconds),
      ),
    ];
  }
  const line = (what: string, read: (answer: StepAnswer) => number, goal?: number): Result =>
    compared(
      `${label}: ${what}`,
      "steps/h",
      {
        ours: 3600 / of(mine, read),
        peer: 3600 / of(theirs, read),
        peerName,
        ratio: median(mine.map((answer, i) => read(theirs[i]!) / read(answer))),
      },
      goal === undefined ? undefined : atLeast(goal),
    );
  const peak = (side: readonly StepAnswer[]): number =>
    Math.max(...side.map(({ peakMiB }) => peakMiB));
  const memory = { ours: peak(mine), peer: peak(theirs), peerName };
  return [
    line("a step", ({ seconds }) => seconds, 4),
    line("its rollouts alone", ({ samplingSeconds }) => samplingSeconds),
    line("its update alone", updating),
    compared(`${label}: peak memory`, "MiB", { ...memory, ratio: memory.ours / memory.peer }),
  ];
}

export const grpoStep: Benchmark = {
  name: "grpo-step",
  summary: "a step of GRPO with LoRA, rollouts and update, beside TRL",
  peerVersions: torchVersions,
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const model = await writeSmolModel(folder.path);
    const size = quick ? quickSize : fullSize;
    using ours = new LineProcess("our engine", process.execPath, [
      ...process.execArgv,
      fileURLToPath(new URL("grpo-child.ts", import.meta.url)),
    ]);
    await ours.ask({ do: "open", model });
    if (!hasTorch()) {
      log("Not compared with TRL: npm run bench:setup:torch installs it.");
      const answers: StepAnswer[] = [];
      for (let i = 0; i < repetitions; i++)
        answers.push(await ours.askWarm({ do: "step", ...size }));
      return resultsOf(size, answers, [], "");
    }
    using peer = startPython("TRL", new URL("trl_peer.py", import.meta.url));
    const { folder: path, loraRank } = model;
    const { trl } = await peer.ask<{ trl: string }>({
      do: "open",
      folder: path,
      rank: loraRank,
      threads: defaultThreads(),
      steps: 2 * repetitions,
      ...size,
    });
    const mine: StepAnswer[] = [];
    const theirs: StepAnswer[] = [];
    for (let i = 1; i <= repetitions; i++) {
      log(`turn ${i} of ${repetitions}, two steps of each ...`);
      mine.push(await ours.askWarm({ do: "step", ...size }));
      theirs.push(await peer.askWarm({ do: "step" }));
    }
    return resultsOf(size, mine, theirs, `TRL ${trl}`);
  },
};
