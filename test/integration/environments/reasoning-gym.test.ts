/** The task families of reasoning-gym, through the server of the examples. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { OrsSource } from "../../../src/environments/ors/ors-source.ts";
import { freePort } from "../../free-port.ts";
import { root } from "../root.ts";
import { startServer, type ServerProcess } from "../server-process.ts";
import { environmentsPython } from "./python.ts";

const { signal } = new AbortController();
let server: ServerProcess | undefined;
let url = "";

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const script = join(root, "examples/environments/reasoning_gym_server.py");
  server = await startServer({
    command: environmentsPython(),
    args: [script, "--port", String(port), "--size", "3"],
    healthUrl: `${url}/health`,
    limitMs: 180_000,
  });
}, 900_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

it("at least 100 families load, ask and score", { timeout: 500_000 }, async () => {
  const names = (await (await fetch(`${url}/list_environments`)).json()) as string[];
  expect(names.length).toBeGreaterThanOrEqual(100);
  const failed: string[] = [];
  for (const env of names) {
    try {
      const source = new OrsSource({ url, env });
      const tasks = [];
      for await (const task of source.tasks("train")) tasks.push(task);
      const episode = await source.open(tasks[0]!, { signal });
      const { reward, done } = await episode.respond("no answer", signal);
      const isRight = tasks.length === 3 && episode.tools.length === 0 && done === true;
      const isScore = reward !== undefined && reward >= 0 && reward < 1;
      if (!isRight || !isScore) failed.push(`${env}: reward ${reward}`);
      await episode.close();
    } catch (error) {
      failed.push(`${env}: ${String(error)}`);
    }
  }
  console.log(`${names.length - failed.length} of ${names.length} families; ${failed.join("; ")}`);
  expect(names.length - failed.length).toBeGreaterThanOrEqual(100);
});

it("the right answer is rewarded, also between tags", async () => {
  const source = new OrsSource({ url, env: "chain_sum" });
  for await (const task of source.tasks("test")) {
    const terms = task.instruction.match(/(\d[\d\s+-]*)=/u)?.[1]?.replaceAll(/\s/gu, "") ?? "";
    const sum = (terms.match(/[+-]?\d+/gu) ?? []).reduce((total, term) => total + Number(term), 0);
    const episode = await source.open(task, { signal });
    const text = `It is <answer>${sum}</answer>.`;
    expect(await episode.respond(text, signal)).toMatchObject({ reward: 1, done: true });
    await episode.close();
  }
});
