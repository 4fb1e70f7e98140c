/** `reasoning-gym:FAMILY`: the server is started, used and ended. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { environment } from "../../../src/environments/environment.ts";
import { environmentsPython } from "./python.ts";

const { signal } = new AbortController();
const running = (): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("reasoning_gym_server.py") && line.includes("--size 7"));

it("starts a server for its family, with options, and again where it was killed", async () => {
  const python = environmentsPython();
  const source = environment("reasoning-gym:chain_sum?max_terms=2&max_digits=1&size=7", { python });
  const tasks = [];
  for await (const task of source.tasks("test", {}, signal)) tasks.push(task);
  expect(tasks).toHaveLength(7);
  const [first] = tasks;
  if (first === undefined) throw new Error("There are no tasks.");
  const [, a, sign, b] = /(\d) ([+-]) (\d) =/u.exec(first.instruction) ?? [];
  const sum = String(Number(a) + (sign === "-" ? -1 : 1) * Number(b));
  const episode = await source.open(first, { signal });
  expect(await episode.respond?.(sum, signal)).toMatchObject({ reward: 1, done: true });
  await episode.close();
  expect(running()).toHaveLength(1);
  execFileSync("pkill", ["-KILL", "-f", "reasoning_gym_server.py.*--size 7"]);
  await expect
    .poll(
      async () => {
        const again = await source.open(first, { signal });
        const { reward } = (await again.respond?.("wrong", signal)) ?? {};
        await again.close();
        return reward;
      },
      { timeout: 60_000 },
    )
    .toBe(0);
  await source.close?.();
  expect(running()).toEqual([]);
}, 300_000);

it("shares a start: a caller that gives up does not end it for the others, and close does", async () => {
  const source = environment("reasoning-gym:chain_sum?size=7", { python: environmentsPython() });
  const read = async (given: AbortSignal): Promise<number> => {
    let count = 0;
    for await (const _ of source.tasks("test", {}, given)) count++;
    return count;
  };
  const impatient = new AbortController();
  const first = read(impatient.signal);
  const second = read(signal);
  impatient.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
  expect(await second).toBe(7);
  await source.close?.();
  const late = read(signal);
  await source.close?.();
  await expect(late).rejects.toThrow(/abort/iu);
  expect(running()).toEqual([]);
}, 300_000);

it("leaves no server behind where the run is killed", async () => {
  const script = join(import.meta.dirname, "open-gym.ts");
  const args = ["--conditions=agent-trainer-source", "--import", "tsx", script];
  const run = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(run.stdout, "data");
  expect(running()).toHaveLength(1);
  run.kill("SIGKILL");
  await expect.poll(running, { timeout: 10_000 }).toEqual([]);
}, 300_000);

it("says what the server said where the family is unknown", async () => {
  const source = environment("reasoning-gym:no_such_family", { python: environmentsPython() });
  await expect(
    (async () => {
      for await (const task of source.tasks("train", {}, signal)) console.log(task);
    })(),
  ).rejects.toThrow(/no_such_family/u);
  await source.close?.();
}, 300_000);
