/** Whose backend it is: one that the trainer created is disposed of, one that it was given is not. */
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { AgentTrainer, loadConfig } from "../../src/index.ts";
import type { TrainingBackend } from "../../src/core/backend.ts";
import { coinProject } from "../cli/coin-project.ts";
import { coinBackend, type CoinOptions } from "./coin-backend.ts";
import {
  coinAgent,
  coinConfig,
  coinEvaluator,
  coinTasks,
  coinTrainer,
  newFolder,
} from "./coin-run.ts";

interface Shared {
  coinMaker?: (config: unknown) => TrainingBackend;
}
const shared = globalThis as Shared;
afterEach(() => {
  delete shared.coinMaker;
});

const maker = { "maker.mjs": "export const createBackend = (c) => globalThis.coinMaker(c);\n" };

/** A trainer whose backend is named by an option, and the backends that were created for it. */
function namedTrainer(set: Record<string, unknown> = {}, options: CoinOptions = {}) {
  const created: ReturnType<typeof coinBackend>[] = [];
  shared.coinMaker = () => {
    const backend = coinBackend(options);
    created.push(backend);
    return backend;
  };
  const spec = join(coinProject(maker), "maker.mjs");
  const trainer = new AgentTrainer({
    agentFlow: coinAgent,
    evaluator: coinEvaluator,
    trainDataset: coinTasks,
    config: { ...coinConfig(newFolder()), backend: spec, ...set },
  });
  return { trainer, created };
}

it("disposes of the backend that it created, once the run has ended", async () => {
  const { trainer, created } = namedTrainer({ "trainer.total_batches": 1 });
  expect(created).toEqual([]);
  expect(await trainer.train()).toMatchObject({ status: "completed" });
  expect(created.map(({ isDisposed }) => isDisposed)).toEqual([true]);
});

it("disposes of it where the run fails, and where it does not support an option", async () => {
  const failing = namedTrainer(
    {},
    {
      onUpdate: () => {
        throw new Error("out of memory");
      },
    },
  );
  await expect(failing.trainer.train()).rejects.toThrow("out of memory");
  const unsupported = namedTrainer({ "algorithm.kl_beta": 0.1 });
  await expect(unsupported.trainer.train()).rejects.toThrow("does not support algorithm.kl_beta");
  for (const { created } of [failing, unsupported]) {
    expect(created.map(({ isDisposed }) => isDisposed)).toEqual([true]);
  }
});

it("leaves the backend alone that it was given", async () => {
  const backend = coinBackend();
  await coinTrainer({ backend, set: { "trainer.total_batches": 1 } }).trainer.train();
  expect(backend.isDisposed).toBe(false);
});

it("runs a file as the command line does, with paths relative to the file", async () => {
  const folder = coinProject(maker);
  let asked: unknown;
  shared.coinMaker = (config) => {
    asked = config;
    return coinBackend();
  };
  const { config } = loadConfig({
    file: join(folder, "run.yaml"),
    overrides: ["backend=maker.mjs", "trainer.total_batches=2", "dataset.val=train.jsonl"],
  });
  const trainer = new AgentTrainer({ config });
  expect(await trainer.train()).toMatchObject({ status: "completed", steps: 2 });
  expect(asked).toMatchObject({ model: { name: "coin" }, backend: "maker.mjs" });
});

it("says what is missing, before anything is loaded", () => {
  const complete = (...overrides: string[]) =>
    loadConfig({ overrides: ["model.name=coin", ...overrides] }).config;
  const make = (config: ReturnType<typeof complete>) => () => new AgentTrainer({ config });
  expect(make(complete())).toThrow("agent is not set, but training needs it.");
  expect(make(complete("agent=./a.mjs"))).toThrow("dataset.train is not set");
  expect(make(complete("agent=a.mjs", "dataset.train=a.jsonl", "backend=tinkr"))).toThrow(
    'There is no backend "tinkr"',
  );
});

it("takes a name in code over that of the configuration, and records it", () => {
  const { config } = new AgentTrainer({
    agentRunFunc: () => 1,
    backend: "tinker",
    trainDataset: coinTasks,
    config: { model: { name: "coin" }, tinker: { contextLength: 4096 } },
  });
  expect(config).toMatchObject({ backend: "tinker", tinker: { contextLength: 4096 } });
});
