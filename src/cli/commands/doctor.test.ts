import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { runCli } from "../program.ts";
import { tryProvider } from "../report/try-provider.ts";

it("shows what works by running a graph", async () => {
  const home = mkdtempSync(join(tmpdir(), "doctor-"));
  mkdirSync(join(home, "hub/models--owner--name"), { recursive: true });
  vi.stubEnv("HF_HOME", home);
  try {
    let out = "";
    await runCli(["doctor", "--json"], {
      stdout: { write: (text: string) => (out += text) },
      stderr: { write: () => undefined },
    });
    const report = JSON.parse(out) as {
      onnxruntime: string;
      providers: { name: string; result: { works: boolean } }[];
      hub: object;
    };
    expect(report.onnxruntime).toMatch(/^1\.\d+/u);
    expect(report.providers.find(({ name }) => name === "cpu")?.result.works).toBe(true);
    expect(report.providers.map(({ name }) => name)).toContain("webgpu");
    expect(report.hub).toMatchObject({ cacheFolder: join(home, "hub"), models: ["owner/name"] });
  } finally {
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true });
  }
});

it("says why a provider does not work, and does not break", async () => {
  expect(await tryProvider("no-such-provider")).toMatchObject({
    works: false,
    reason: expect.stringContaining("no-such-provider") as string,
  });
});
