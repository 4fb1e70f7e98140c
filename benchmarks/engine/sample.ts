/** `engine-sample`: tokens drawn per second, prompts included, and the memory that takes. */
import type { Benchmark } from "../harness/benchmark.ts";
import { runChild } from "../harness/child.ts";
import { hasTorch, torchVersions } from "../engine-peers/torch-environment.ts";
import { peerPrecisions, pyTorch, vllm } from "../engine-peers/peers.ts";
import { hasVllm } from "../engine-peers/vllm-environment.ts";
import { takeTurns } from "../engine-peers/turns.ts";
import { goalOf } from "../harness/kernel-goals.ts";
import { atLeast, compared, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { type ModelCase, shopTiny, writeSmolModel } from "./models.ts";
import type { SampleInput, SampleOutput } from "./sample-case.ts";

const caseFile = new URL("sample-case.ts", import.meta.url);

async function measure(input: SampleInput): Promise<readonly Result[]> {
  const { seconds, peakMiB } = await runChild<SampleOutput>(caseFile, input);
  const label = `${input.model.name}, batch ${input.batch}`;
  return [
    result(label, "tokens/s", (input.batch * input.newTokens) / median(seconds)),
    result(`${label}: peak memory`, "MiB", peakMiB),
  ];
}

/** Goals for a batch of 32, by the peer's precision; the last one is vLLM's. */
const goals = goalOf({
  native: { f32: atLeast(4.5), bf16: atLeast(4), vllm: atLeast(3) },
  portable: { f32: atLeast(3), bf16: undefined, vllm: atLeast(2.5) },
});

/** Ours with its LoRA factors, as while training, and the bare model in the peers, in turns. */
async function besidePeers(
  model: ModelCase,
  batch: number,
  sizes: { readonly promptTokens: number; readonly newTokens: number },
  repetitions: number,
  log: (line: string) => void,
): Promise<readonly Result[]> {
  const precisions = peerPrecisions(log);
  const names: readonly (keyof typeof goals)[] = [
    ...precisions,
    ...(hasVllm() ? ["vllm" as const] : []),
  ];
  const kinds = names.map((name) => (name === "vllm" ? vllm() : pyTorch(name)));
  if (!hasVllm()) log("Not compared with vLLM: npm run bench:setup:vllm installs it.");
  const turn = { do: "sample", batch, ...sizes } as const;
  const { ours, peers } = await takeTurns(model, turn, repetitions, kinds);
  const label = `${model.name}, batch ${batch}, in turns`;
  const speed = (seconds: number): number => (batch * sizes.newTokens) / seconds;
  return peers.map(({ name, side, ratio }, i) =>
    compared(
      label,
      "tokens/s",
      { ours: speed(ours.seconds), peer: speed(side.seconds), peerName: name, ratio },
      batch === 32 ? goals[names[i]!] : undefined,
    ),
  );
}

export const engineSample: Benchmark = {
  name: "engine-sample",
  summary: "sampling tokens/s and peak memory of the embedded engine",
  peerVersions: torchVersions,
  async run({ quick, repetitions }, log) {
    using folder = createTempFolder();
    log("writing a model of SmolLM2-135M's shape (538 MB) ...");
    const smol = await writeSmolModel(folder.path);
    const sizes = { promptTokens: quick ? 16 : 64, newTokens: quick ? 8 : 64 };
    const results: Result[] = [];
    for (const model of [shopTiny, smol]) {
      for (const batch of quick ? [1, 8] : [1, 8, 32]) {
        log(`${model.name}, batch ${batch} ...`);
        results.push(...(await measure({ model, batch, ...sizes, repetitions })));
      }
    }
    if (quick || !hasTorch()) {
      log(
        "Not compared with transformers: npm run bench:setup:torch installs it, --quick leaves it out.",
      );
      return results;
    }
    for (const batch of [1, 32]) {
      log(`batch ${batch}, in turns with transformers.generate and vLLM ...`);
      results.push(...(await besidePeers(smol, batch, sizes, repetitions, log)));
    }
    return results;
  },
};
