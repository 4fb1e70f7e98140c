import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { TinkerClient } from "../../tinker-api/client.ts";
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

it("is explained by --help", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  const words = ["--tinker", "127.0.0.1", "8100", "TINKER_API_KEY", "Examples:"];
  for (const word of [...words, "--max-models", "--max-body-mib"]) expect(out).toContain(word);
});

it(
  "serves until Ctrl-C, with a generated token that it prints once",
  { timeout: 60_000 },
  async () => {
    const { TINKER_API_KEY: _unset, ...env } = process.env;
    const child = spawn(
      process.execPath,
      [
        ...["--import", "tsx", "--conditions=agent-trainer-source"],
        resolve(import.meta.dirname, "../main.ts"),
        ...["serve", "--tinker", "--json", "--port", "0", "--folder", join(folder, "runs")],
      ],
      { env, stdio: ["ignore", "pipe", "pipe"] },
    );
    let err = "";
    child.stderr.on("data", (text: Buffer) => (err += text.toString()));
    const exited = once(child, "exit");
    try {
      const [line] = (await once(createInterface(child.stdout), "line")) as [string];
      const { url, model } = JSON.parse(line) as { url: string; model: string };
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u);
      await expect.poll(() => err, { timeout: 10_000 }).toMatch(/^token: tml-/mu);
      const apiKey = /^token: (\S+)$/mu.exec(err)![1]!;
      await expect(TinkerClient.connect({ baseUrl: url, apiKey: "tml-guess" })).rejects.toThrow(
        "401",
      );
      await using client = await TinkerClient.connect({ baseUrl: url, apiKey });
      expect(await client.rest.models()).toEqual([{ name: model, contextLength: 512 }]);
    } finally {
      child.kill("SIGINT");
    }
    expect(await exited).toEqual([0, null]);
  },
);
