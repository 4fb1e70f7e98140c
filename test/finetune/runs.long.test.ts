/** Runs: exact resume, early stopping, what is refused, and what a run leaves on disk. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { TrainingBackend } from "../../src/core/backend.ts";
import type { TrainerEvent } from "../../src/core/events.ts";
import { loadConfig } from "../../src/config/load.ts";
import { fineTune, type FineTuneOptions } from "../../src/launch/finetune/fine-tune.ts";
import { previewFineTune } from "../../src/launch/finetune/preview.ts";
import { readRun } from "../../src/runs/run-summary.ts";
import { readLines } from "../trainer/coin-run.ts";
import { fakeBackend } from "./fake-backend.ts";
import { shopConversations, shopPairs, shopThumbs } from "./trl-examples.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "fine-tune-"));
const emptyFile = join(newFolder(), "empty.jsonl");
writeFileSync(emptyFile, "\n");
const rows = Array.from({ length: 6 }, (_, i) => ({ prompt: `Q${i}`, completion: `A${i}` }));

/** Metrics without what depends on the clock. */
const recorded = (runDir: string) =>
  readLines(runDir, "metrics.jsonl").map((line) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => !/^time\/|per_s$/u.test(name))),
  );

const examplesOf = { sft: shopConversations, dpo: shopPairs, kto: shopThumbs };

describe.each(["sft", "dpo", "kto"] as const)("%s on the embedded engine", (loss) => {
  it("resumes to the same numbers and weights, to the last bit", async () => {
    const examples = examplesOf[loss]("run", 6);
    const run = (outputDir: string, rest: Partial<FineTuneOptions> = {}) =>
      fineTune({
        config: {
          model: { name: "builtin:shop-tiny", loraRank: 2 },
          fineTuning: { loss, valFraction: 0.3 },
          data: { trainBatchSize: 2 },
          training: { learningRate: 1e-3, lrSchedule: "linear" },
          trainer: { totalBatches: 3, testFreq: 1, saveFreq: 1, outputDir, experimentName: "a" },
        },
        train: examples,
        ...rest,
      });
    const [whole, cut] = [newFolder(), newFolder()];
    const once = await run(whole);
    const stop = new AbortController();
    const onEvent = ({ type, step }: TrainerEvent): void => {
      if (type === "step-end" && step === 2) stop.abort();
    };
    const first = await run(cut, { signal: stop.signal, onEvent });
    expect(first).toMatchObject({ status: "interrupted", steps: 2 });
    const second = await run(cut, { resume: first.runDir });
    expect(second).toMatchObject({ status: "completed", steps: 3 });
    expect(recorded(second.runDir)).toEqual(recorded(once.runDir));
    for (const file of ["adapter_model.safetensors", "optimizer.state"]) {
      const bytes = ({ checkpoint }: { checkpoint: string | null }): Buffer =>
        readFileSync(join(checkpoint!, "weights", file));
      expect(bytes(second).equals(bytes(once)), file).toBe(true);
    }
    expect(once.validation!["val/loss"]).toBeLessThan(
      Number(recorded(once.runDir)[0]!["val/loss"]),
    );
  });
});

describe("early stopping", () => {
  const losses = [3, 2, 1, 1.5, 1.2, 1.1, 0.5];
  const run = (outputDir: string, rest: Partial<FineTuneOptions> = {}) =>
    fineTune({
      backend: fakeBackend(losses),
      config: {
        model: { name: "fake" },
        fineTuning: { patience: 2 },
        data: { trainBatchSize: 2 },
        trainer: {
          totalBatches: 6,
          testFreq: 1,
          saveFreq: 1,
          keepBest: true,
          keepCheckpoints: 1,
          outputDir,
          experimentName: "early",
        },
      },
      train: rows,
      val: rows.slice(0, 2),
      ...rest,
    });

  it("ends after validations without a lower loss, and keeps the best step", async () => {
    const result = await run(newFolder());
    expect(result).toMatchObject({ status: "completed", stoppedEarly: true, steps: 4 });
    expect(result.best!.step).toBe(2);
    expect(result.best!.value).toBeCloseTo(1, 6);
    const { checkpoints, status } = await readRun(result.runDir);
    expect(checkpoints.map(({ step }) => step)).toEqual([4, 2]);
    expect(status).toBe("completed");
  });

  it("counts validations of an earlier process", async () => {
    const folder = newFolder();
    const stop = new AbortController();
    const onEvent = ({ type, step }: TrainerEvent): void => {
      if (type === "validation-end" && step === 3) stop.abort();
    };
    const first = await run(folder, { signal: stop.signal, onEvent });
    expect(first).toMatchObject({ status: "interrupted", steps: 3 });
    const second = await run(folder, { resume: "auto" });
    expect(second).toMatchObject({ stoppedEarly: true, steps: 4 });
  });

  describe("after a resume with other held-out examples", () => {
    // The first step is the best, so that one validation without a lower loss is left.
    const measured = [3, 1, 2, 2.5, 2.2, 2.1];
    const warnings: string[] = [];
    const both = async (val: typeof rows) => {
      const folder = newFolder();
      const stop = new AbortController();
      const first = await run(folder, {
        backend: fakeBackend(measured),
        signal: stop.signal,
        onEvent: ({ type, step }) => {
          if (type === "validation-end" && step === 2) stop.abort();
        },
      });
      expect(first).toMatchObject({ status: "interrupted", steps: 2, best: { step: 1 } });
      warnings.length = 0;
      const onEvent = (event: TrainerEvent): void => {
        if (event.type === "warning") warnings.push(event.message);
      };
      return run(folder, { backend: fakeBackend(measured), val, resume: "auto", onEvent });
    };

    it("forgets the old best, and how long nothing was better", async () => {
      const result = await both(rows.slice(2, 4));
      // Losses from step 2 on: 2, 2.5, 2.2.
      expect(result).toMatchObject({ stoppedEarly: true, steps: 4, best: { step: 2 } });
      expect(result.best!.value).toBeCloseTo(2, 6);
      expect(warnings.join()).toContain("The best validation so far, that of step 1, was measured");
    });

    it("keeps both where they are the same", async () => {
      const result = await both(rows.slice(0, 2));
      expect(result).toMatchObject({ stoppedEarly: true, steps: 3, best: { step: 1 } });
      expect(warnings.join()).not.toContain("The best validation so far");
    });
  });
});

describe("batches", () => {
  it("have every example once per epoch", async () => {
    const backend = fakeBackend([1]);
    await fineTune({
      backend,
      config: {
        model: { name: "fake" },
        data: { trainBatchSize: 2 },
        trainer: { totalEpochs: 2, outputDir: newFolder() },
      },
      train: rows,
    });
    const names = backend.updates.map((batch) => batch.map(({ provenance }) => provenance.taskId));
    expect(names).toHaveLength(6);
    const all = names.flat();
    for (const epoch of [all.slice(0, 6), all.slice(6)]) expect(new Set(epoch).size).toBe(6);
  });
});

describe("what is refused", () => {
  const run = (options: Partial<FineTuneOptions>, set: object = {}, capabilities: object = {}) =>
    fineTune({
      backend: fakeBackend([1], capabilities),
      config: {
        model: { name: "fake" },
        trainer: { outputDir: newFolder(), totalBatches: 1 },
        ...set,
      },
      ...options,
    });

  it("bad rows, by file and line; they can be skipped", async () => {
    const file = join(newFolder(), "data.jsonl");
    const good = JSON.stringify(rows[0]);
    writeFileSync(file, [good, "{", '{"messages": []}', good].join("\n"));
    await expect(run({ train: file })).rejects.toThrow(`${file}:2: not valid JSON`);
    const warnings: string[] = [];
    const onEvent = (event: TrainerEvent): void => {
      if (event.type === "warning") warnings.push(event.message);
    };
    const skip = { fineTuning: { skipBadRows: true } };
    const { examples } = await run({ train: file, onEvent }, skip);
    expect(examples.train).toBe(2);
    expect(warnings.join()).toContain("2 rows of the training examples cannot be used");
    expect(warnings.join()).toContain(`${file}:2`);
  });

  it.each([
    ["no examples", {}, {}, {}, /no examples to fine-tune on/u],
    ["a missing file", { train: "nowhere.jsonl" }, {}, {}, /nowhere\.jsonl, which does not exist/u],
    [
      "an empty file",
      { train: emptyFile },
      {},
      {},
      /no training examples that can be used: .*empty\.jsonl is empty/u,
    ],
    [
      "only long ones",
      { train: rows },
      { fineTuning: { maxLength: 2 } },
      {},
      /6 of .* longer than 2/u,
    ],
    ["two sources", { train: rows }, { fineTuning: { fromRun: "x" } }, {}, /both name examples/u],
    ["patience alone", { train: rows }, { fineTuning: { patience: 1 } }, {}, /held-out examples/u],
    [
      "all held out",
      { train: rows.slice(0, 1) },
      { fineTuning: { valFraction: 0.9 } },
      {},
      /leaves none/u,
    ],
    [
      "a backend without the loss",
      { train: rows },
      {},
      { losses: ["ppo"] },
      /does not support fine_tuning\.loss="sft"/u,
    ],
    [
      "pairs without forward",
      { train: rows },
      { fineTuning: { loss: "dpo" } },
      { forward: false },
      /fine_tuning\.loss="dpo"/u,
    ],
    [
      "validation without forward",
      { train: rows },
      { fineTuning: { valFraction: 0.5 } },
      { forward: false },
      /fine_tuning\.val_fraction/u,
    ],
    [
      "resume without exact resume",
      { train: rows, resume: "auto" },
      {},
      { exactResume: false },
      /resume/u,
    ],
  ] as const)("%s", async (_, options, set, capabilities, message) => {
    await expect(run(options as Partial<FineTuneOptions>, set, capabilities)).rejects.toThrow(
      message,
    );
  });

  it("a missing file before a model is loaded", async () => {
    const start = vi.fn<TrainingBackend["start"]>();
    const backend = { ...fakeBackend([1]), start };
    await expect(run({ backend, train: "nowhere.jsonl" })).rejects.toThrow("does not exist");
    expect(start).not.toHaveBeenCalled();
  });

  it("nothing of the adapter's options: a backend gets them", async () => {
    const { start: open, ...rest } = fakeBackend([1], {
      loraTargets: "layers",
      quantizations: ["int8"],
    });
    const start = vi.fn<TrainingBackend["start"]>(open);
    const model = { name: "fake", loraRank: 4, loraTargets: "attention", quantization: "int8" };
    await run({ backend: { ...rest, start }, train: rows }, { model });
    expect(start.mock.calls[0]![0].model).toMatchObject({
      lora: { rank: 4, targets: ["q_proj", "k_proj", "v_proj", "o_proj"] },
      quantization: "int8",
    });
  });

  it("warns of options that only rollouts read", async () => {
    const warnings: string[] = [];
    const onEvent = (event: TrainerEvent): void => {
      if (event.type === "warning") warnings.push(event.message);
    };
    await run({ train: rows, onEvent }, { rollout: { n: 4 } });
    expect(warnings.join()).toContain("does not read these options");
    expect(warnings.join()).toContain("rollout.n");
  });
});

describe.each(["sft", "dpo"] as const)("%s with the configuration of train", (loss) => {
  const pairs = Array.from({ length: 6 }, (_, i) => ({
    prompt: `Q${i}`,
    chosen: "A",
    rejected: "B",
  }));
  const train = loss === "sft" ? rows : pairs;
  const load = () =>
    loadConfig({
      file: join(import.meta.dirname, "../../templates/common/train.yaml"),
      overrides: [
        `fine_tuning.loss=${loss}`,
        "trainer.total_batches=2",
        `trainer.output_dir=${newFolder()}`,
        // Those of rollouts may need what the backend has not.
        "algorithm.entropy_coef=0.1",
      ],
    }).config;

  it("runs, and names what it does not read, as its preview does", async () => {
    const warnings: string[] = [];
    const onEvent = (event: TrainerEvent): void => {
      if (event.type === "warning") warnings.push(event.message);
    };
    const backend = fakeBackend([3, 2], { entropyBonus: false });
    const { status, steps } = await fineTune({ config: load(), train, backend, onEvent });
    expect({ status, steps }).toEqual({ status: "completed", steps: 2 });
    const unread = warnings.find((message) => message.startsWith("Fine-tuning does not read"));
    expect(unread).toMatch(/trainer\.test_freq|and \d+ more/u);
    expect(unread).toContain("fine_tuning.val_fraction");
    const preview = await previewFineTune({ config: load(), train }, 1);
    expect(preview.warnings).toContain(unread);
  });

  it("refuses in the preview what it refuses in the run", async () => {
    const config = { ...load(), fineTuning: { ...load().fineTuning, patience: 2 } };
    const run = fineTune({ config, train, backend: fakeBackend([3]) });
    await expect(run).rejects.toThrow(/patience needs held-out examples/u);
    await expect(previewFineTune({ config, train }, 1)).rejects.toThrow(
      /patience needs held-out examples/u,
    );
  });
});
