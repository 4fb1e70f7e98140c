/** The real package verifiers through the bridge: tasks, episodes of its own agent, rewards, failures. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { evaluate } from "../../../src/launch/evaluate/evaluate.ts";
import { environment } from "../../../src/environments/index.ts";
import { createScriptedTarget } from "../../../src/testing/index.ts";
import { pythonEnvironment } from "../python-environment.ts";

const { signal } = new AbortController();
let python = "";

beforeAll(() => {
  python = pythonEnvironment({ name: "verifiers", packages: ["verifiers==0.4.0"] });
  // Where a user would install the package of the taskset.
  process.env["PYTHONPATH"] = join(import.meta.dirname, "verifiers");
}, 1_500_000);
afterAll(() => delete process.env["PYTHONPATH"]);

it("tasks in their order, and unknown names and splits by name", { timeout: 300_000 }, async () => {
  const source = environment("verifiers:sums-v1", { python });
  const tasks = [];
  for await (const task of source.tasks("train", { start: 1, stop: 4 })) tasks.push(task);
  expect(tasks.map(({ id, instruction }) => `${id} ${instruction}`)).toEqual([
    "train/1 What is 1 + 1?",
    "train/2 What is 2 + 2?",
    "train/3 What is 3 + 3?",
  ]);
  await expect(source.tasks("test")[Symbol.asyncIterator]().next()).rejects.toThrow(/one split/u);
  await source.close?.();
  const unknown = environment("verifiers:no-such-taskset", { python });
  await expect(unknown.tasks("train")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    message: expect.stringContaining("no-such-taskset") as unknown,
  });
  await unknown.close?.();
});

it(
  "its agent calls our model, and its rewards are those of the rollouts",
  { timeout: 300_000 },
  async () => {
    const { items, summary } = await evaluate({
      env: "verifiers:sums-v1",
      config: { environment: { valSplit: "train", python } },
      // Right for 0 + 0, 1 + 1 and 2 + 2.
      model: createScriptedTarget(({ text }) =>
        /What is (\d)/u.exec(text)?.[1] === "2" ? "4" : "0 or 2",
      ),
    });
    expect(items.map(({ reward }) => reward)).toEqual([2, 2, 2, 0, 0, 0]);
    expect(summary.reward?.mean).toBe(1);
  },
);

it("an abort cancels the run in Python", { timeout: 300_000 }, async () => {
  const source = environment("verifiers:sums-v1", { python });
  const first = await source.tasks("train")[Symbol.asyncIterator]().next();
  const episode = await source.open(first.value, { signal });
  const controller = new AbortController();
  const address = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "k", model: "m" };
  const played = episode.play?.(address, controller.signal);
  controller.abort(new Error("stop"));
  await expect(played).rejects.toThrow("stop");
  await source.close?.();
});

it("without the package the error says what to run", { timeout: 60_000 }, async () => {
  const source = environment("verifiers:sums-v1", { python: "/no/such/python" });
  await expect(source.tasks("train")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    hint: "Run: agent-trainer env setup",
  });
  await source.close?.();
});
