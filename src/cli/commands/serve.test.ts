import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { createTinkerClient } from "../../tinker-api/client.ts";
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
  ["one API at a time", ["--tinker", "--fireworks"]],
  ["no effect without a canary", ["runs/shop", "--min-feedback", "5"]],
  ["no effect on the training APIs", ["--tinker", "--canary", "0.1"]],
  ["two names of one option", ["--fireworks", "--key", "fw_a", "--token", "fw_b"]],
])("exits with 2: %s", async (why, args) => {
  const { code, out, err } = await run(...args);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain(why);
});

it("is explained by --help", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  const words = [
    "--tinker",
    "--fireworks",
    "--key",
    "FIREWORKS_API_KEY",
    "127.0.0.1",
    "8100",
    "TINKER_API_KEY",
    "Examples:",
  ];
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
  const { TINKER_API_KEY: _tinker, FIREWORKS_API_KEY: _fireworks, ...env } = process.env;
  const child = spawn(
    process.execPath,
    [
      ...["--import", "tsx", "--conditions=agent-trainer-source"],
      resolve(import.meta.dirname, "../main.ts"),
      ...["serve", api, "--json", "--port", "0", "--folder", join(folder, api), ...flags],
    ],
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

it("serves the Fireworks API with the given key", async () => {
  const exited = await serve("--fireworks", ["--key", "fw_mine"], async ({ url, token }) => {
    // A key that was chosen is not printed.
    expect(token).toBe("");
    const accounts = async (key: string): Promise<Response> =>
      fetch(`${url}/v1/accounts`, { headers: { "x-api-key": key } });
    expect((await accounts("fw_guess")).status).toBe(401);
    expect(await (await accounts("fw_mine")).json()).toMatchObject({
      accounts: [{ name: "accounts/local" }],
    });
  });
  expect(exited).toEqual([0, null]);
});
