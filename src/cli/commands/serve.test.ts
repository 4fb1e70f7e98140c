import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { argumentsOf } from "../../../test/cli/coin-project.ts";
import { createTinkerClient } from "../../tinker-api/client.ts";
import { createUpstream } from "../../testing/index.ts";
import { runCli } from "../program.ts";

const folder = mkdtempSync(join(tmpdir(), "serve-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await runCli(["serve", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it("exits with 2 and a remedy without the flag of an API", async () => {
  const { code, out, err } = await run();
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("agent-trainer serve --tinker");
});

it.each([
  ["no effect without a canary", ["runs/shop", "--min-feedback", "5"]],
  ["no effect on the Tinker API", ["--tinker", "--canary", "0.1"]],
  ["no effect on the Tinker API", ["--tinker", "--follow"]],
  ["two names of one option", ["--tinker", "--key", "tml-a", "--token", "tml-b"]],
])("exits with 2: %s", async (why, args) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain(why);
});

it("is explained by --help", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  const words = ["--tinker", "--key", "127.0.0.1", "8100", "TINKER_API_KEY", "Examples:"];
  for (const word of [...words, "--max-models", "--max-body-mib"]) expect(out).toContain(word);
});

interface Served {
  readonly url: string;
  readonly model: string;
  /** The one that was generated. */
  readonly token: string;
}

/** Serves as a process until `use` is done, then interrupts it. @returns how it exited. */
async function serve(
  api: string,
  flags: readonly string[],
  use: (served: Served) => Promise<void>,
): Promise<unknown> {
  const { TINKER_API_KEY: _tinker, ...env } = process.env;
  const child = spawn(
    process.execPath,
    await argumentsOf([
      ...["serve", api, "--json", "--port", "0", "--folder", join(folder, api)],
      ...flags,
    ]),
    { env, stdio: ["ignore", "pipe", "pipe"] },
  );
  let err = "";
  child.stderr.on("data", (text: Buffer) => (err += text.toString()));
  const exited = once(child, "exit");
  try {
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    await expect.poll(() => err, { timeout: 10_000 }).toMatch(/^Serving /mu);
    const token = /^token: (\S+)$/mu.exec(err)?.[1] ?? "";
    await use({ ...(JSON.parse(line) as Omit<Served, "token">), token });
  } finally {
    child.kill("SIGINT");
  }
  return exited;
}

it(
  "serves until Ctrl-C, with a generated token that it prints once",
  { timeout: 60_000 },
  async () => {
    const exited = await serve("--tinker", [], async ({ url, model, token: apiKey }) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u);
      expect(apiKey).toMatch(/^tml-/u);
      await expect(createTinkerClient({ baseUrl: url, apiKey: "tml-guess" })).rejects.toThrow(
        "401",
      );
      await using client = await createTinkerClient({ baseUrl: url, apiKey });
      expect(await client.rest.models()).toEqual([{ name: model, contextLength: 512 }]);
    });
    expect(exited).toEqual([0, null]);
  },
);

it(
  "continues a canary after a kill, and never tries again what was rolled back",
  { timeout: 120_000 },
  async () => {
    await using good = await createUpstream({ kind: "openai", script: () => "good" });
    await using bad = await createUpstream({ kind: "openai", script: () => "bad" });
    const store = join(folder, "production");
    const names = ["serve", `shop=${good.url}/v1`, "--candidate", `${bad.url}/v1`];
    const flags = ["--store", store, "--canary", "0.5", "--min-feedback", "5", "--port", "0"];
    const begin = async () => {
      const child = spawn(process.execPath, await argumentsOf([...names, ...flags]), {
        stdio: ["ignore", "pipe", "pipe"],
      });
      let err = "";
      child.stderr.on("data", (text: Buffer) => (err += text.toString()));
      const exited = once(child, "exit");
      const [url] = (await once(createInterface(child.stdout), "line")) as [string];
      const said = async (words: RegExp): Promise<void> => {
        await expect.poll(() => err, { timeout: 30_000 }).toMatch(words);
      };
      const kill = async (): Promise<void> => {
        child.kill("SIGKILL");
        await exited;
      };
      return { url, said, kill, errors: () => err };
    };
    const ask = async (url: string, i: number): Promise<{ id: string; text: string }> => {
      const response = await fetch(`${url}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-conversation-id": `c${i}` },
        body: JSON.stringify({ model: "shop", messages: [{ role: "user", content: "Hi" }] }),
      });
      const body = (await response.json()) as {
        id: string;
        choices: { message: { content: string } }[];
      };
      return { id: body.id, text: body.choices[0]!.message.content };
    };
    const rate = async (url: string, answers: { id: string; text: string }[]): Promise<void> => {
      const list = answers.map(({ id, text }) => ({
        responseId: id,
        score: text === "good" ? 1 : 0,
      }));
      const at = url.replace(/v1$/u, "feedback");
      const { status } = await fetch(at, { method: "POST", body: JSON.stringify(list) });
      expect(status).toBe(200);
    };
    const first = await begin();
    await first.said(/is on trial: 50 % of conversations/u);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(first.url, i)));
    const half = answers.filter(({ text }) => text === "good");
    expect(half.length).toBeGreaterThan(10);
    expect(half.length).toBeLessThan(50);
    await rate(first.url, half);
    await first.kill();
    const second = await begin();
    await rate(
      second.url,
      answers.filter(({ text }) => text === "bad"),
    );
    await second.said(/is rolled back and never tried again: difference -1\.000/u);
    await second.kill();
    const third = await begin();
    const after = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(third.url, i)));
    expect(new Set(after.map(({ text }) => text))).toEqual(new Set(["good"]));
    expect(third.errors()).not.toMatch(/on trial/u);
    await third.kill();
  },
);
