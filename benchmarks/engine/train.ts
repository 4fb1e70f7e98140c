/** `engine-train`: tokens per second of a gradient and an optimizer step, and the memory they take. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { hasTorch, torchVersions } from "../engine-peers/torch-environment.ts";
import { peerPrecisions, pyTorch } from "../engine-peers/peers.ts";
import { takeTurns } from "../engine-peers/turns.ts";
import { trainingFlops } from "../engine-peers/training-flops.ts";
import { goalOf } from "../harness/kernel-goals.ts";
import { atLeast, atMost, compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { type ModelCase, shopTiny, smolConfig, writeSmolModel } from "./models.ts";
import { countTokens, demoStep, denseRows, type RowShape } from "./rows.ts";
import type { TrainInput, TrainOutput } from "./train-case.ts";

interface TrainCase {
  readonly model: ModelCase;
  readonly label: string;
  readonly shapes: readonly RowShape[];
  /** Goal for the memory. */
  readonly maxMiB?: number;
}

const caseFile = new URL("train-case.ts", import.meta.url);

async function measure(item: TrainCase, repetitions: number): Promise<readonly Result[]> {
  const { model, label, shapes, maxMiB } = item;
  const input: TrainInput = { model, shapes, repetitions };
  const { seconds, peakMiB } = await runChild<TrainOutput>(caseFile, input);
  const goal = maxMiB === undefined ? undefined : atMost(maxMiB);
  return [
    result(label, "tokens/s", countTokens(shapes) / median(seconds)),
    result(`${label}: peak memory`, "MiB", peakMiB, goal),
  ];
}

/** Ours and PyTorch in turns, and how much of what matrix products reach alone is left. */
async function besidePyTorch(
  model: ModelCase,
  [rows, tokens]: readonly [number, number],
  repetitions: number,
  log: (line: string) => void,
): Promise<readonly Result[]> {
  const precisions = peerPrecisions(log);
  const kinds = precisions.map((precision) => pyTorch(precision));
  const { ours, peers, gflops } = await takeTurns(
    model,
    { do: "train", rows, tokens },
    repetitions,
    kinds,
  );
  const label = `${model.name}, LoRA rank ${model.loraRank}, ${rows} x ${tokens} tokens, in turns`;
  const speed = (seconds: number): number => (rows * tokens) / seconds;
  const flops = trainingFlops(smolConfig, { rows, tokens, loraRank: model.loraRank ?? 0 });
  const share = flops / ours.seconds / 1e9 / gflops;
  const goals = goalOf({
    native: { f32: atLeast(2.6), bf16: atLeast(1.8) },
    portable: { f32: atLeast(1.5), bf16: undefined },
  });
  return [
    ...peers.map(({ name, side, ratio }, i) =>
      compared(
        label,
        "tokens/s",
        { ours: speed(ours.seconds), peer: speed(side.seconds), peerName: name, ratio },
        goals[precisions[i]!],
      ),
    ),
    result(
      `${label}: share of the matrix product's peak`,
      "",
      share,
      atLeast(goalOf({ native: 0.75, portable: 0.8 })),
    ),
    ...peers.map(({ name, side }) =>
      compared(`${label}: peak memory`, "MiB", {
        ours: ours.peakMiB,
        peer: side.peakMiB,
        peerName: name,
        ratio: ours.peakMiB / side.peakMiB,
      }),
    ),
  ];
}

export const engineTrain: Benchmark = {
  name: "engine-train",
  summary: "training tokens/s and peak memory of the embedded engine",
  peerVersions: torchVersions,
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const smol = await writeSmolModel(folder.path);
    const [rows, tokens] = quick ? [2, 64] : [8, 512];
    const loraLabel = `${smol.name}, LoRA rank ${smol.loraRank}, ${rows} x ${tokens} tokens`;
    const cases: TrainCase[] = [
      { model: shopTiny, label: `${shopTiny.name}, all weights, a demo step`, shapes: demoStep },
      {
        model: smol,
        label: loraLabel,
        shapes: denseRows(rows, tokens),
        ...(quick ? {} : { maxMiB: 3072 }),
      },
    ];
    const results: Result[] = [];
    for (const item of cases) {
      log(`${item.label} ...`);
      results.push(...(await measure(item, repetitions)));
    }
    if (quick || !hasTorch()) {
      log(
        "Not compared with PyTorch: npm run bench:setup:torch installs it, --quick leaves it out.",
      );
      return results;
    }
    log("4 x 256 tokens, in turns with PyTorch and PEFT ...");
    results.push(...(await besidePyTorch(smol, [4, 256], repetitions, log)));
    return results;
  },
};
