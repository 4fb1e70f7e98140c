/** KTO: TRL's numbers, the completions of other prompts, rows with labels, and what a run learns. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/backends/local/index.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Example } from "../../src/launch/finetune/examples/token-row.ts";
import { parseFeedback } from "../../src/launch/finetune/examples/feedback.ts";
import { fineTune, type FineTuneOptions } from "../../src/launch/finetune/fine-tune.ts";
import { klEstimate, ktoMetrics, ktoTerm } from "../../src/launch/finetune/objectives/kto-loss.ts";
import { mismatchedResponse, mismatchesOf } from "../../src/launch/finetune/objectives/unpaired.ts";
import { previewFineTune } from "../../src/launch/finetune/preview.ts";
import { fakeBackend } from "./fake-backend.ts";
import { shopThumbs } from "./trl-examples.ts";

interface GoldenCase {
  readonly labels: readonly boolean[];
  readonly beta: number;
  readonly desirableWeight: number;
  readonly undesirableWeight: number;
  readonly policy: readonly number[];
  readonly reference: readonly number[];
  readonly mismatched: readonly number[];
  readonly loss: number;
  readonly gradients: readonly number[];
  readonly metrics: Readonly<Record<string, number>>;
}
const { cases } = JSON.parse(readFileSync(new URL("kto-golden.json", import.meta.url), "utf8")) as {
  readonly cases: readonly GoldenCase[];
};

it.each(cases.map((each, i) => [i, each] as const))(
  "case %d has the loss, the gradients and the metrics of TRL's KTOTrainer",
  (_, { labels, policy, reference, mismatched, loss, gradients, metrics, ...weights }) => {
    const kl = klEstimate(mismatched);
    const terms = labels.map((isDesirable, i) =>
      ktoTerm({ policy: policy[i]!, reference: reference[i]!, isDesirable }, kl, weights),
    );
    const found = ktoMetrics(terms, kl);
    expect(found["loss"]).toBeCloseTo(loss, 9);
    for (const [i, { gradient }] of terms.entries())
      expect(gradient / terms.length).toBeCloseTo(gradients[i]!, 9);
    for (const [name, value] of Object.entries(metrics)) expect(found[name]).toBeCloseTo(value, 9);
    const rewards = Object.keys(found).filter((name) => /^rewards|^kl/u.test(name));
    expect(rewards.sort()).toEqual(Object.keys(metrics).sort());
  },
);

describe("completions of other prompts", () => {
  const example = (prompt: readonly number[], completion: readonly number[]): Example => {
    const tokens = Int32Array.from([...prompt, ...completion]);
    const mask = Uint8Array.from(tokens, (_, i) => (i < prompt.length ? 0 : 1));
    return { at: String(prompt[0]), rows: [{ tokens, mask }], rejected: null, label: true };
  };
  const [a, b, c] = [example([1, 2], [10, 11, 12]), example([3], [20]), example([4], [30, 31])];
  const order = new Map([a, b, c].map((each, i) => [each, i]));
  const shown = (batch: readonly Example[], maxLength = 100) =>
    mismatchesOf(batch, order).map((each) => {
      const [row] = mismatchedResponse(each, maxLength).rows;
      return [[...row!.tokens], [...row!.mask]];
    });

  it("move on by one, in the order of the data", () => {
    const known = [
      [
        [1, 2, 30, 31],
        [0, 0, 1, 1],
      ],
      [
        [3, 10, 11, 12],
        [0, 1, 1, 1],
      ],
      [
        [4, 20],
        [0, 1],
      ],
    ];
    expect(shown([a, b, c])).toEqual(known);
    expect(shown([c, a, b])).toEqual(known);
  });

  it("are cut to what fits", () => {
    expect(shown([a, b, c], 3)[0]).toEqual([
      [1, 2, 30],
      [0, 0, 1],
    ]);
  });
});

describe("rows", () => {
  const row = { prompt: "Q", completion: "A" };
  it.each([
    [true, true],
    [1, true],
    ["up", true],
    [false, false],
    [0, false],
    ["down", false],
  ])("have the label %j", (label, isDesirable) => {
    const messages = [
      { role: "user", content: "Q" },
      { role: "assistant", content: "A" },
    ];
    const found = parseFeedback({ ...row, label }, "here", "all");
    expect(found.isDesirable).toBe(isDesirable);
    expect(parseFeedback({ messages, label }, "here", "all")).toEqual(found);
  });

  it.each([
    [row, /^thumbs\.jsonl:3: label must be true or false, .* but there is none/u],
    [{ ...row, label: "good" }, /^thumbs\.jsonl:3: label must be .* but it is "good"/u],
    [{ prompt: "Q", label: true }, /^thumbs\.jsonl:3: a row needs messages, or prompt/u],
    [[], /^thumbs\.jsonl:3: a row must be a JSON object/u],
  ])("%j are refused", (bad, message) => {
    expect(() => parseFeedback(bad, "thumbs.jsonl:3", "all")).toThrow(message);
  });
});

const newFolder = (): string => mkdtempSync(join(tmpdir(), "kto-"));

describe("a run", () => {
  it("makes good responses more likely than before, and bad ones less", async () => {
    const steps: Record<string, number>[] = [];
    await using backend = createLocalBackend({ threads: 1 });
    await fineTune({
      backend,
      config: {
        model: { name: "builtin:shop-tiny" },
        fineTuning: { loss: { type: "kto", beta: 0.5 } },
        data: { trainBatchSize: 4 },
        training: { learningRate: 5e-4 },
        trainer: { totalBatches: 4, outputDir: newFolder() },
      },
      train: shopThumbs("kto", 4),
      onEvent: (event) => event.type === "step-end" && steps.push({ ...event.metrics }),
    });
    const [first, last] = [steps[0]!, steps.at(-1)!];
    // Policy and reference agree: 1 - σ(0).
    expect(first["train/loss"]).toBeCloseTo(0.5, 6);
    expect(first["train/kl"]).toBe(0);
    expect(first["train/examples/chosen"]).toBe(2);
    expect(first["train/examples/rejected"]).toBe(2);
    expect(last["train/loss"]).toBeLessThan(first["train/loss"]! - 0.02);
    expect(last["train/rewards/chosen"]).toBeGreaterThan(0);
    expect(last["train/rewards/rejected"]).toBeLessThan(0);
  });

  const rows = [true, true, true, false].map((label, i) => ({
    ...{ prompt: `Q${i}`, completion: `A${i}`, label },
  }));
  const run = (options: Partial<FineTuneOptions>, set: object = {}, capabilities: object = {}) =>
    fineTune({
      backend: fakeBackend([1], capabilities),
      config: {
        model: { name: "fake" },
        fineTuning: { loss: "kto" },
        trainer: { outputDir: newFolder(), totalBatches: 1 },
        ...set,
      },
      train: rows,
      ...options,
    });

  it.each([
    ["a backend without forward", {}, {}, { forward: false }, /fine_tuning\.loss="kto"/u],
    ["a backend without the loss", {}, {}, { losses: ["ppo"] }, /fine_tuning\.loss="kto"/u],
    ["batches of one", {}, { data: { trainBatchSize: 1 } }, {}, /train_batch_size is 1/u],
    ["one example", { train: rows.slice(0, 1) }, {}, {}, /only one to train on/u],
    ["one held out", { val: rows.slice(0, 1) }, {}, {}, /only one is held out/u],
  ] as const)("refuses %s", async (_, options, set, capabilities, message) => {
    await expect(run(options, set, capabilities)).rejects.toThrow(message);
  });

  it("names file and line of a row without a label", async () => {
    const file = join(newFolder(), "thumbs.jsonl");
    const bad = { prompt: "Q", completion: "A" };
    writeFileSync(file, [rows[0], bad].map((row) => JSON.stringify(row)).join("\n"));
    await expect(run({ train: file })).rejects.toThrow(`${file}:2: label must be`);
  });

  it("warns of labels out of balance, by the range of the paper", async () => {
    const warningsOf = async (options: Partial<FineTuneOptions>, set: object = {}) => {
      const warnings: string[] = [];
      const onEvent = (event: TrainerEvent): void => {
        if (event.type === "warning") warnings.push(event.message);
      };
      await run({ ...options, onEvent }, set);
      return warnings.join("\n");
    };
    expect(await warningsOf({})).toContain(
      "3 examples are desirable and 1 are not; fine_tuning.loss.desirable_weight from 0.333 to 0.444",
    );
    const loss = { type: "kto", undesirableWeight: 3 };
    expect(await warningsOf({}, { fineTuning: { loss } })).not.toContain("are desirable");
    expect(await warningsOf({ train: rows.slice(0, 3) })).toContain("nothing to tell apart");
  });

  it("shows the labels in the preview", async () => {
    const config = { model: { name: "builtin:shop-tiny" }, fineTuning: { loss: "kto" } } as const;
    const shown = await previewFineTune({ config, train: rows }, 4);
    expect(shown.rows.map(({ side }) => side)).toEqual([
      ...["desirable", "desirable", "desirable", "undesirable"],
    ]);
  });
});
