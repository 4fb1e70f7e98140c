import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadImproveConfig } from "../../src/config/improve/improve-config.ts";
import {
  improve,
  type ImproveResult,
  type ImproveRunOptions,
} from "../../src/launch/improve/improve.ts";
import { locateModel } from "../../src/launch/evaluate/locate-model.ts";
import { readEpisodes } from "../../src/runs/evaluations/recorded-episodes.ts";
import { readHandedOver } from "../../src/runs/rounds/handed-over.ts";
import { readRounds } from "../../src/runs/rounds/round-file.ts";
import { runCli } from "../../src/cli/program.ts";
import { newProduction, type Production } from "./shop-production.ts";

let production: Production;
beforeEach(() => void (production = newProduction()));
afterEach(() => production[Symbol.dispose]());

const rounds = (): string => join(production.folder, "improve");

const rollouts = [
  "data.train_batch_size=2",
  "rollout.n=4",
  "trainer.total_batches=2",
  "trainer.save_freq=1",
  "trainer.test_freq=0",
];

/** A round that ends after it has curated. */
const noTraining = ["curate.min_rows=1000"];

const run = (
  overrides: readonly string[] = [],
  options: Partial<ImproveRunOptions> = {},
): Promise<ImproveResult> =>
  improve({ config: loadImproveConfig(production.file, overrides), ...options });

/**
 * What a round found, and the weights that it trained, without what the clock said. The version is a hash of a
 * state that counts resumes, too.
 */
function facts(result: ImproveResult): unknown {
  const passed = new Set(["startedAt", "endedAt", "at", "version"]);
  const text = JSON.stringify(result, (key, value: unknown) => (passed.has(key) ? "" : value));
  const candidate = "train" in result ? (result.train?.candidate.model ?? "") : "";
  const state = readFileSync(join(candidate, "state.json"), "utf8");
  const { files } = JSON.parse(state) as { files: unknown };
  return { ...(JSON.parse(text) as object), files };
}

it("hands over what the gate calls better, and goes on from it with new feedback", async () => {
  await production.add("first", 16);
  const first = await run();
  expect(first).toMatchObject({
    round: 1,
    status: "handed over",
    inUse: { model: "builtin:shop-tiny", version: null },
    curate: {
      conversations: 16,
      good: 8,
      bad: 8,
      rows: { train: 16 },
      feedback: { from: 0, to: 16 },
    },
    train: { with: "kto", steps: 3 },
    gate: { verdict: "better", tasks: 6 },
  });
  const handedOver = readHandedOver(rounds());
  expect(handedOver).toMatchObject({ round: 1, ...("train" in first && first.train?.candidate) });
  expect(await locateModel(rounds())).toMatchObject({
    kind: "checkpoint",
    label: handedOver?.model,
  });

  // Nothing new is left for a later round, with what comes then.
  expect(await run()).toMatchObject({ round: 2, status: "too little" });
  await production.add("second", 12);
  expect(await run()).toMatchObject({
    round: 3,
    status: "handed over",
    inUse: { model: handedOver?.model, version: handedOver?.version },
    curate: { rows: { train: 12 }, feedback: { from: 16, to: 28 } },
  });
});

it("learns by rollouts at what was asked, with the rewards of the configuration", async () => {
  await production.add("first", 16);
  const evaluator = join(production.folder, "evaluator.mjs");
  writeFileSync(
    evaluator,
    "export const evaluator = (task, { output }) => output === (task.metadata.answer ?? null);",
  );
  const overrides = JSON.stringify([...rollouts, `evaluator=${evaluator}`, "env=?nearest=0.9"]);
  const round = await run(["train.with=rl", `train.overrides=${overrides}`]);
  expect(round).toMatchObject({
    status: "handed over",
    curate: { rows: { train: 16 } },
    train: { with: "rl", steps: 2 },
  });
  const [last] = [...readEpisodes(join(rounds(), "round-000001"))].slice(-1);
  // What production asked, and how it was answered there.
  expect(last?.task.metadata).toMatchObject({ messages: [{ role: "system" }, { role: "user" }] });
});

it("stops where the gate says no, says by how much, and leaves the model in use", async () => {
  await production.add("first", 16);
  let [out, err] = ["", ""];
  const status = await runCli(["improve", production.file, "gate.min_gain=1", "--json"], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  expect(status, err).toBe(1);
  const { gate, ...result } = JSON.parse(out) as Extract<ImproveResult, { gate?: unknown }>;
  expect(result.status).toBe("refused");
  expect(gate?.misses[0]).toMatchObject({ rule: "gain" });
  expect(gate?.misses[0]?.missedBy).toBeGreaterThan(0);
  expect(readHandedOver(rounds())).toBeNull();
  expect(err).toContain("round 1: gate");
});

it("goes on wherever it was killed, with the same result", { timeout: 120_000 }, async () => {
  await production.add("first", 16);
  const kept = mkdtempSync(join(tmpdir(), "improve-kills-"));
  const points: string[] = [];
  /** What a kill at this point leaves; a lock of a process that is gone is taken over. */
  const keep = (point: string): void => {
    if (points.includes(point)) return;
    points.push(point);
    cpSync(rounds(), join(kept, point), {
      recursive: true,
      filter: (path) => !path.endsWith("run.lock"),
    });
  };
  const whole = facts(
    await run(["gate.regressions=regressions.jsonl"], {
      onStage: (stage) => void (stage === "hand over" && keep(stage)),
      onEvent: (event) => void (event.type === "step-end" && event.step === 2 && keep("step 2")),
      onResult: (_item, { done }) => void (done === 3 && keep("attempt 3")),
    }),
  );
  expect(points).toEqual(["step 2", "attempt 3", "hand over"]);
  for (const point of points) {
    rmSync(rounds(), { recursive: true });
    rmSync(join(production.folder, "regressions.jsonl"), { force: true });
    rmSync(join(production.folder, "regressions.jsonl.receipt.json"), { force: true });
    cpSync(join(kept, point), rounds(), { recursive: true });
    expect(facts(await run(["gate.regressions=regressions.jsonl"])), point).toEqual(whole);
    expect(readHandedOver(rounds()), point).toMatchObject({ round: 1 });
    expect(readRounds(rounds()), point).toHaveLength(1);
  }
  rmSync(kept, { recursive: true });
});

it("keeps the options of a round that has not ended", async () => {
  await production.add("first", 16);
  const stop = new AbortController();
  const stopped = run([], {
    signal: stop.signal,
    onStage: (stage) => void (stage === "train" && stop.abort()),
  });
  await expect(stopped).rejects.toThrow("abort");
  await expect(run(["gate.min_gain=0"])).rejects.toThrow("began with other options");
  const next = await run(noTraining, { abandon: true });
  expect(next).toMatchObject({ round: 2, curate: { rows: { train: 16 }, feedback: { from: 0 } } });
  expect(readRounds(rounds()).map(({ status }) => status)).toEqual(["abandoned", "too little"]);
});

it("adds files once, however often a round reads them", async () => {
  await production.add("first", 16);
  const store = join(production.folder, "production");
  const feedback = join(store, "feedback.jsonl");
  cpSync(feedback, join(production.folder, "again.jsonl"));
  const before = readFileSync(feedback, "utf8");
  const files = ["collect.files=[again.jsonl]", "collect.format=feedback"];
  expect(await run([...files, ...noTraining])).toMatchObject({
    collect: { files: 1, feedback: 0 },
  });
  expect(readFileSync(feedback, "utf8")).toBe(before);
});

it.each([
  [["train.with=kot"], "train.with"],
  [["gate.min_gian=1"], "min_gain"],
  [["collect.files=[a.jsonl]"], "collect.format"],
  [["curate.val_fraction=1"], "val_fraction"],
  [['train.overrides=["training.learning_rat=1"]'], "learning_rate"],
])("refuses %j before anything is done", async (overrides, words) => {
  await expect((async () => run(overrides))()).rejects.toThrow(words);
  expect(existsSync(rounds())).toBe(false);
});
