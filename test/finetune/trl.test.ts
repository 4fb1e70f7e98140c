/** Whole runs against TRL's trainers on the same model, token ids and optimizer: loss, gradient, rewards. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import { fineTune } from "../../src/launch/finetune/fine-tune.ts";
import { teacherAdvantages } from "../../src/trainer/update/distillation.ts";

import { shopConversations, shopPairs, trlSettings } from "./trl-examples.ts";
import { opdLogprobs } from "./trl-input.ts";

type Step = Readonly<Record<string, number>>;
const golden = JSON.parse(readFileSync(new URL("trl-golden.json", import.meta.url), "utf8")) as {
  readonly sft: readonly Step[];
  readonly dpo: readonly Step[];
  readonly opd: readonly number[];
};

async function steps(loss: "sft" | "dpo", train: readonly object[]): Promise<readonly Step[]> {
  const { examples, steps: totalBatches, dpoBeta, ...optim } = trlSettings;
  const logged: Step[] = [];
  await using backend = createLocalBackend({ threads: 1, precision: "f32" });
  await fineTune({
    backend,
    config: {
      model: { name: "builtin:shop-tiny" },
      fineTuning: { loss: loss === "dpo" ? { type: loss, beta: dpoBeta } : loss },
      data: { trainBatchSize: examples },
      training: optim,
      trainer: { totalBatches, outputDir: mkdtempSync(join(tmpdir(), "trl-")) },
    },
    train,
    onEvent: (event) => event.type === "step-end" && logged.push(event.metrics),
  });
  return logged;
}

/** Each step's numbers are those of TRL; later ones follow from weights that were updated alike. */
function expectSame(found: readonly Step[], known: readonly Step[]): void {
  expect(found).toHaveLength(known.length);
  for (const [i, step] of known.entries()) {
    for (const [name, value] of Object.entries(step))
      expect(found[i]![`train/${name}`], `${name} of step ${i + 1}`).toBeCloseTo(value, 3);
  }
}

describe("the numbers of TRL", () => {
  it("SFTTrainer: mean cross-entropy of the assistant's tokens in several turns", async () => {
    expectSame(await steps("sft", shopConversations("sft", trlSettings.examples)), golden.sft);
  });

  it("DPOTrainer: sigmoid loss, implicit rewards, reference", async () => {
    expectSame(await steps("dpo", shopPairs("dpo", trlSettings.examples)), golden.dpo);
  });

  it("IW-OPD without weights: the advantage of distillation", () => {
    const { teacher, policy } = opdLogprobs;
    const divergence = "reverse" as const;
    const plain = { coef: 1, discount: 0, clip: null, divergence };
    const found = [...teacherAdvantages(teacher, policy, plain)];
    for (const [i, value] of golden.opd.entries()) expect(found[i]).toBeCloseTo(value, 5);
  });

  it("rLLM: with a discount, and with a clip", () => {
    const { teacher, policy } = opdLogprobs;
    const of = (options: object) => {
      const divergence = "reverse" as const;
      const shape = { coef: 1, discount: 0, clip: null, divergence, ...options };
      return [...teacherAdvantages(teacher, policy, shape)];
    };
    for (const [options, known] of [
      [{}, [0.5, 0, -1.5]],
      [{ discount: 0.9 }, [-0.715, -1.35, -1.5]],
      [{ clip: 1 }, [0.5, 0, -1]],
      [{ coef: 2 }, [1, 0, -3]],
    ] as const) {
      for (const [i, value] of known.entries()) expect(of(options)[i]).toBeCloseTo(value, 9);
    }
  });
});
