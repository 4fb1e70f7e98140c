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
  ["no effect on the Tinker API", ["--tinker", "--store", "production"]],
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

it("takes feedback on calls of a process that was killed", { timeout: 60_000 }, async () => {
  await using upstream = await createUpstream({ kind: "openai", script: () => "good" });
  const flags = ["--store", join(folder, "production"), "--port", "0"];
  const begin = async () => {
    const words = await argumentsOf(["serve", `shop=${upstream.url}/v1`, ...flags]);
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
    const exited = once(child, "exit");
    const [url] = (await once(createInterface(child.stdout), "line")) as [string];
    const kill = async (): Promise<void> => {
      child.kill("SIGKILL");
      await exited;
    };
    return { url, kill };
  };
  const post = async (url: string, body: object): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return response.json();
  };
  const first = await begin();
  const asked = { model: "shop", messages: [{ role: "user", content: "Hi" }] };
  const { id } = (await post(`${first.url}/chat/completions`, asked)) as { id: string };
  await first.kill();
  const second = await begin();
  const feedback = { responseId: id, thumb: "up" };
  const version = expect.stringContaining(upstream.url) as string;
  const kept = { accepted: 1, duplicates: 0, versions: [version] };
  expect(await post(second.url.replace(/v1$/u, "feedback"), feedback)).toEqual(kept);
  await second.kill();
});
