/** The families of the package reasoning-gym from PyPI: tasks, scores, and processes that end. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { EnvironmentSource } from "../../../src/core/environment.ts";
import type { Task } from "../../../src/core/task.ts";
import { environment } from "../../../src/environments/environment.ts";
import { environmentsPython } from "./python.ts";

const { signal } = new AbortController();
let python = "";
beforeAll(() => void (python = environmentsPython()), 900_000);

async function tasksOf(source: EnvironmentSource, split: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks(split, {}, signal)) tasks.push(task);
  return tasks;
}

async function respond(source: EnvironmentSource, task: Task, response: string) {
  const episode = await source.open(task, { signal });
  return await episode.respond?.(response, signal);
}

it("at least 100 families load, ask and score", { timeout: 500_000 }, () => {
  const script = join(import.meta.dirname, "score_families.py");
  const text = execFileSync(python, ["-W", "ignore", script], { encoding: "utf8" });
  const families = JSON.parse(text) as Record<string, string | null>;
  const failed = Object.entries(families).filter(([, problem]) => problem !== null);
  console.log(`${failed.length} of ${Object.keys(families).length} failed:`, failed);
  expect(Object.keys(families).length - failed.length).toBeGreaterThanOrEqual(100);
});

/** Processes of one family with a size that no other test has. */
const running = (): number[] =>
  execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("agent_trainer_gym chain_sum --size 7"))
    .map((line) => Number.parseInt(line, 10));

it("rewards the right answer, and begins again where it was killed", async () => {
  const source = environment("reasoning-gym:chain_sum?max_terms=2&max_digits=1&size=7", { python });
  const tasks = await tasksOf(source, "test");
  expect(tasks).toHaveLength(7);
  const [first] = tasks;
  const [, a, sign, b] = /(\d) ([+-]) (\d) =/u.exec(first!.instruction) ?? [];
  const sum = String(Number(a) + (sign === "-" ? -1 : 1) * Number(b));
  for (const text of [sum, `It is <answer>${sum}</answer>.`])
    expect(await respond(source, first!, text)).toMatchObject({ reward: 1, done: true });
  expect(running()).toHaveLength(1);
  process.kill(running()[0]!, "SIGKILL");
  await expect
    .poll(
      () =>
        respond(source, first!, "wrong").then(
          (result) => result?.reward,
          () => null,
        ),
      { timeout: 60_000 },
    )
    .toBe(0);
  await source.close?.();
  expect(running()).toEqual([]);
}, 300_000);

it("leaves no process behind where the run is killed", async () => {
  const script = join(import.meta.dirname, "open-gym.ts");
  const args = ["--conditions=agent-trainer-source", "--import", "tsx", script];
  const run = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(run.stdout, "data");
  expect(running()).toHaveLength(1);
  run.kill("SIGKILL");
  await expect.poll(running, { timeout: 10_000 }).toEqual([]);
}, 300_000);

it("says what the package said where the family is unknown", async () => {
  const source = environment("reasoning-gym:no_such_family", { python });
  await expect(tasksOf(source, "train")).rejects.toThrow(/'no_such_family' not registered/u);
  await source.close?.();
}, 300_000);
