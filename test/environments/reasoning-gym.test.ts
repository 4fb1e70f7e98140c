/** `reasoning-gym:FAMILY` through the Python program of this package, with a stand-in for reasoning-gym itself. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { EnvironmentSource } from "../../src/core/environment.ts";
import type { Task } from "../../src/core/task.ts";
import { environment } from "../../src/environments/environment.ts";
import { root } from "../docs/pages.ts";

const { signal } = new AbortController();
const failed = { code: "ENVIRONMENT_FAILED" };
const sources: EnvironmentSource[] = [];
beforeEach(() => void vi.stubEnv("PYTHONPATH", join(import.meta.dirname, "python")));
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(sources.splice(0).map(async (source) => await source.close?.()));
});

function open(name: string): EnvironmentSource {
  const source = environment(`reasoning-gym:${name}`, { python: "python3" });
  sources.push(source);
  return source;
}

async function tasksOf(source: EnvironmentSource, split = "train", range = {}): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks(split, range, signal)) tasks.push(task);
  return tasks;
}

async function scoreOf(source: EnvironmentSource, task: Task, response: string) {
  const episode = await source.open(task, { signal });
  expect(episode.tools).toEqual([]);
  const { reward, done } = (await episode.respond?.(response, signal)) ?? {};
  expect(done).toBe(true);
  await episode.close();
  return reward;
}

it("has different questions, as many as asked for, in both splits", async () => {
  const source = open("sums?size=3&first=5");
  expect(await tasksOf(source)).toEqual(
    [5, 6, 7].map((n, i) => ({
      id: `train/${i}`,
      instruction: `${n} + 1 =`,
      metadata: { split: "train", question: `${n} + 1 =` },
    })),
  );
  const [second] = await tasksOf(source, "test", { start: 1, stop: 2 });
  expect(second).toMatchObject({ id: "test/1", instruction: "10000006 + 1 =" });
  const { prompt } = await source.open(second!, { signal });
  expect(prompt).toEqual([{ role: "user", content: "10000006 + 1 =" }]);
  await expect(tasksOf(source, "dev")).rejects.toThrow(/splits train and test; "dev"/u);
});

it("asks nothing in one split that is asked in another", async () => {
  const source = open("sums?size=3&same=true");
  const [train, test] = [await tasksOf(source), await tasksOf(source, "test")];
  const asked = [...train, ...test].map(({ instruction }) => instruction);
  expect([asked.length, new Set(asked).size]).toEqual([6, 6]);
});

it("scores a response, or what is between its tags", async () => {
  const source = open("sums?size=1&first=5");
  const [task] = await tasksOf(source);
  const tagged = "It is 5? <answer>5</answer> No, <answer> 6 </answer>.";
  const responses = ["6", tagged, "7", "six", "nan"];
  const rewards = responses.map((response) => scoreOf(source, task!, response));
  expect(await Promise.all(rewards)).toEqual([1, 1, 0.01, 0, 0]);
});

it("leaves out a task that takes too long to make, and gives 0 for a response that does", async () => {
  const [slow, source] = [open("sums?size=3&slow=1"), open("sums?size=1")];
  const [made, reward] = await Promise.all([
    tasksOf(slow),
    tasksOf(source).then(([task]) => scoreOf(source, task!, "forever")),
  ]);
  expect(made.map(({ instruction }) => instruction)).toEqual(["0 + 1 =", "1 + 1 =", "2 + 1 ="]);
  expect(reward).toBe(0);
});

it("begins again where its process ended, and that attempt may be repeated", async () => {
  const source = open("sums?size=1");
  const [task] = await tasksOf(source);
  await expect(scoreOf(source, task!, "die")).rejects.toMatchObject({
    ...failed,
    message: expect.stringMatching(/its process ended with 3/u) as unknown,
    fields: { isFinal: false },
  });
  expect(await scoreOf(source, task!, "1")).toBe(1);
});

it("shares a process: a caller that gives up does not end it for the others", async () => {
  const source = open("sums?size=1");
  const impatient = new AbortController();
  const first = source.tasks("train", {}, impatient.signal)[Symbol.asyncIterator]().next();
  const second = tasksOf(source);
  impatient.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
  expect(await second).toHaveLength(1);
});

it.each([
  ["an unknown family", "primes", /Dataset 'primes' not registered/u],
  ["an option that the family does not have", "sums?last=1", /last/u],
])("%s is named, and final", async (_name, name, message) => {
  await expect(tasksOf(open(name))).rejects.toMatchObject({
    ...failed,
    message: expect.stringMatching(message) as unknown,
    fields: { isFinal: true },
  });
});

it("says what to install, and refuses tasks of others", async () => {
  const source = open("sums");
  await expect(
    source.open({ id: "1", instruction: "?", metadata: {} }, { signal }),
  ).rejects.toThrow(/not one of reasoning-gym:sums/u);
  const without = mkdtempSync(join(tmpdir(), "no-gym-"));
  const text = "raise ModuleNotFoundError(\"No module named 'reasoning_gym'\")\n";
  writeFileSync(join(without, "reasoning_gym.py"), text);
  vi.stubEnv("PYTHONPATH", without);
  await expect(tasksOf(open("sums"))).rejects.toMatchObject({
    ...failed,
    message: expect.stringMatching(/No module named 'reasoning_gym'/u) as unknown,
    hint: "Run: agent-trainer env setup reasoning-gym",
  });
});

it("--examples writes right answers to questions that are in no split", () => {
  const program = join(root, "python", "agent_trainer_gym");
  const args = [program, "sums", "--size", "2", "--config", '{"first":5}', "--examples"];
  const text = execFileSync("python3", args, { encoding: "utf8" });
  const lines = text.split("\n").filter((line) => line.includes("prompt"));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    [20_000_005, 20_000_006].map((n) => ({ prompt: `${n} + 1 =`, completion: String(n + 1) })),
  );
});
