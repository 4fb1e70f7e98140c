/** Budgets, trackers and sources of an evaluation. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import type { TrainerEvent } from "../../src/core/events.ts";
import type { Tracker } from "../../src/core/tracker.ts";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { createScriptedTarget, createUpstream } from "../../src/testing/index.ts";
import { coinBackend } from "../trainer/coin-backend.ts";
import { coinAgent, coinEvaluator, coinTasks, newFolder } from "../trainer/coin-run.ts";

const coin = { agentFlow: coinAgent, evaluator: coinEvaluator, dataset: coinTasks } as const;
const budgetOf = (budget: object) => ({ model: { name: "scripted" }, budget }) as const;
const always = () => createScriptedTarget(() => "yes");

/** What five attempts take, one after the other. */
async function tokensOfAll(): Promise<number> {
  const { summary } = await evaluate({ ...coin, model: always() });
  return summary.usage.promptTokens + summary.usage.responseTokens;
}

it("ends at its budget of tokens, and measures the rest when it is resumed with a larger one", async () => {
  const folder = join(newFolder(), "evaluation");
  const all = await tokensOfAll();
  const warnings: string[] = [];
  const run = (tokens: number, resume: boolean) =>
    evaluate({
      ...coin,
      ...{ model: always(), folder, resume, concurrency: 1 },
      config: budgetOf({ tokens }),
      onWarning: (message) => warnings.push(message),
    });
  const limit = Math.round(all * 0.5);
  const first = await run(limit, false);
  expect(first).toMatchObject({ status: "out_of_budget", summary: { status: "out_of_budget" } });
  expect(first.items.length).toBeGreaterThan(0);
  expect(first.items.length).toBeLessThan(5);
  expect(warnings.join("\n")).toContain(`budget.tokens=${limit} ends the evaluation`);

  const again = await run(limit, true);
  expect(again).toMatchObject({ status: "out_of_budget", items: first.items });

  const rest = await run(10 * all, true);
  expect(rest).toMatchObject({ status: "completed", summary: { rollouts: 5 } });
  expect(rest.items.slice(0, first.items.length)).toEqual(first.items);
});

it("keeps a budget of minutes, over all of its processes", async () => {
  const folder = join(newFolder(), "evaluation");
  const run = (minutes: number, resume: boolean) =>
    evaluate({ ...coin, ...{ model: always(), folder, resume }, config: budgetOf({ minutes }) });
  expect(await run(1e-9, false)).toMatchObject({ status: "out_of_budget", items: [] });
  expect(await run(1000, true)).toMatchObject({ status: "completed", summary: { rollouts: 5 } });
});

it("counts the tokens of an endpoint, as it reports them", async () => {
  await using upstream = await createUpstream({ script: () => "yes" });
  const { status, items } = await evaluate({
    ...coin,
    model: { url: upstream.url },
    concurrency: 1,
    config: budgetOf({ tokens: 1 }),
  });
  expect({ status, measured: items.length < 5 }).toEqual({
    status: "out_of_budget",
    measured: true,
  });
});

it("keeps a budget of dollars by the prices of prompts and samples", async () => {
  const one = { ...coin, model: always(), concurrency: 1 };
  await expect(evaluate({ ...one, config: budgetOf({ usd: 1 }) })).rejects.toMatchObject({
    message: "budget.usd=1 cannot be kept: no price is known for a model in this process.",
    hint: "Set budget.prices.prompt, budget.prices.sampled (US dollars per million tokens), or use budget.tokens.",
  });
  const prices = { prompt: 1e6, sampled: 1e6 };
  const { status } = await evaluate({ ...one, config: budgetOf({ usd: 1, prices }) });
  expect(status).toBe("out_of_budget");
});

function recorder(): Tracker & { readonly got: TrainerEvent[] } {
  const got: TrainerEvent[] = [];
  return {
    name: "recorder",
    events: ["run-start", "validation-end", "run-end"],
    got,
    track: (event) => void got.push(event),
  };
}

it("tells trackers its metrics, and how it ended", async () => {
  const tracker = recorder();
  const folder = join(newFolder(), "tracked");
  const { summary } = await evaluate({ ...coin, model: always(), folder, trackers: [tracker] });
  expect(tracker.got).toMatchObject([
    { type: "run-start", runDir: folder, totalSteps: 0, resumedFrom: null },
    { type: "validation-end", metrics: summary.metrics },
    { type: "run-end", status: "completed", message: null },
  ]);
});

it("tells trackers of a failure, and says when there is no folder for them", async () => {
  const tracker = recorder();
  const failing = {
    ...coin,
    model: always(),
    concurrency: 1,
    trackers: [tracker],
    onResult: () => {
      throw new Error("disk full");
    },
  };
  const folder = join(newFolder(), "failing");
  await expect(evaluate({ ...failing, folder })).rejects.toThrow("disk full");
  expect(tracker.got.at(-1)).toMatchObject({
    type: "run-end",
    status: "failed",
    message: "disk full",
  });
  const warnings: string[] = [];
  await evaluate({
    ...coin,
    model: always(),
    trackers: [recorder()],
    onWarning: (message) => warnings.push(message),
  });
  expect(warnings).toEqual([
    "The evaluation has no folder, so it is not tracked by recorder. Pass folder, too.",
  ]);
});

it("counts hardware that is held for it by the hour", async () => {
  // A hundredth of a second costs 10 dollars.
  const backend = Object.assign(coinBackend(), { usdPerHour: 3_600_000 });
  const { status } = await evaluate({
    ...coin,
    backend,
    concurrency: 1,
    agentFlow: async (task, config) => {
      await setTimeout(20);
      return await coinAgent(task, config);
    },
    config: budgetOf({ usd: 10, prices: { prompt: 0, sampled: 0 } }),
  });
  expect(status).toBe("out_of_budget");
});

it("refuses the sources of a mixture, of which it would read none", async () => {
  const sources = [{ name: "a", train: "a.jsonl" }];
  const config = { model: { name: "scripted" }, dataset: { sources } };
  const { dataset: _, ...withoutDataset } = coin;
  const given = { ...withoutDataset, model: always(), config } as never;
  await expect(evaluate(given)).rejects.toMatchObject({
    message: "An evaluation has one dataset, and dataset.sources names 1.",
    fields: { option: "dataset.sources" },
  });
});
