/** The same run through our Tinker server: what it logs is what `local` logs. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { fineTune } from "../../src/launch/finetune/fine-tune.ts";
import { fetchOf, startServer } from "../tinker/local-server.ts";
import { viaTinker } from "../tinker/shop-run.ts";
import { shopConversations, shopPairs, shopThumbs } from "./trl-examples.ts";

async function losses(backend: TrainingBackend, name: string, loss: "sft" | "dpo" | "kto") {
  await using owned = backend;
  const found: number[] = [];
  const rows = { sft: shopConversations, dpo: shopPairs, kto: shopThumbs }[loss]("tinker", 4);
  await fineTune({
    backend: owned,
    config: {
      model: { name, loraRank: 4 },
      fineTuning: { loss },
      data: { trainBatchSize: 2 },
      training: { learningRate: 1e-3 },
      trainer: { totalBatches: 2, testFreq: 1, outputDir: mkdtempSync(join(tmpdir(), "ft-")) },
    },
    train: rows.slice(0, 2),
    val: rows.slice(2),
    onEvent(event) {
      if (event.type === "step-end") found.push(event.metrics["train/loss"]!);
      if (event.type === "validation-end") found.push(event.metrics["val/loss"]!);
    },
  });
  return found;
}

it.each(["sft", "dpo", "kto"] as const)(
  "%s has the losses of local",
  { timeout: 120_000 },
  async (loss) => {
    const local = await losses(createLocalBackend({ threads: 1 }), "builtin:shop-tiny", loss);
    await using server = await startServer({ modelName: "shop-tiny" });
    const tinker = await losses(viaTinker({ fetch: fetchOf(server.server) }), "shop-tiny", loss);
    expect(tinker).toHaveLength(5);
    for (const [i, value] of local.entries()) expect(tinker[i]).toBeCloseTo(value, 3);
    expect(local.at(-1)).toBeLessThan(local[0]!);
  },
);
