import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createSqliteTraceStore } from "../../gateway/index.ts";
import { argumentsOf } from "../../../test/cli/coin-project.ts";
import { AdminClient } from "../../../test/gateway/admin-client.ts";
import { runCli } from "../program.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(["gateway", ...args], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

describe("bad options", () => {
  it("end with 2 and say what to do", async () => {
    const foreign = join(folder, "foreign.sqlite");
    writeFileSync(foreign, "not a database ".repeat(100));
    const cases: [string[], RegExp][] = [
      [["--store", "memory"], /neither --worker nor --builtin/],
      [["--worker", "http://a", "--builtin", "x", "--store", "memory"], /cannot be combined/],
      [["--worker", "ftp://a", "--store", "memory"], /has the scheme ftp:/],
      [["--worker", "http://u:p@a", "--store", "memory"], /holds credentials/],
      [["--worker", "http://127.0.0.1:1", "--store", "memory"], /No worker reported its model/],
      [["--worker", "http://a", "--kind", "ollama", "--store", "memory"], /Allowed choices/],
      [["--kind", "vllm", "--store", "memory"], /there is no --worker/],
      [["--builtin", "builtin:shop-tiny", "--port", "70000"], /port/],
      [["--builtin", "builtin:shop-tiny", "--store", foreign], /foreign\.sqlite is not a trace/],
      [
        [
          "--worker",
          "http://a",
          "--model",
          "m",
          "--open",
          "--host",
          "0.0.0.0",
          "--store",
          "memory",
        ],
        /requires no tokens/,
      ],
      [["--builtin", "x", "--store", join(folder, "no/such.sqlite")], /cannot be created/],
    ];
    for (const [args, message] of cases) {
      const { code, out, err } = await run(...args);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toMatch(message);
    }
  });

  it("are explained by --help", async () => {
    const { code, out } = await run("--help");
    expect(code).toBe(0);
    for (const word of [
      "--worker",
      "--open",
      "--store",
      "9090",
      "AGENT_TRAINER_ADMIN_TOKEN",
      "Examples:",
    ]) {
      expect(out).toContain(word);
    }
  });
});

it("serves until Ctrl-C and keeps what it captured", async () => {
  const path = join(folder, "traces.sqlite");
  const { AGENT_TRAINER_ADMIN_TOKEN: _unset, ...env } = process.env;
  const child = spawn(
    process.execPath,
    await argumentsOf([
      ...["gateway", "--builtin", "builtin:shop-tiny", "--store", path, "--port", "0"],
    ]),
    { env, stdio: ["ignore", "pipe", "pipe"], cwd: resolve(import.meta.dirname, "../../..") },
  );
  let [out, err] = ["", ""];
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (err += data.toString()));
  const closed = new Promise<number | null>((done) => child.on("close", done));
  try {
    await expect.poll(() => err, { timeout: 30_000 }).toContain("Ctrl-C to stop the gateway");
    const adminToken = /^admin token: (\S+)$/m.exec(err)?.[1] as string;
    const client = new AdminClient({ url: out.trim(), adminToken });
    const { baseUrl, apiKey } = await client.createSession({ session_id: "a" });
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], max_tokens: 4 }),
    });
    expect(response.status).toBe(200);
    const traces = await client.traces("a");
    child.kill("SIGINT");
    expect(await closed).toBe(0);
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(err.split(adminToken)).toHaveLength(2);
    const store = createSqliteTraceStore(path);
    expect(await store.bySession("a")).toEqual(traces);
    await store.close();
  } finally {
    child.kill("SIGKILL");
  }
});
