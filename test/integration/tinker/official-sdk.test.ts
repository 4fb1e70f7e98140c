/** The official SDK, unmodified, against our server: every public call of its clients. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { modelPath, startServer, token } from "../../tinker/local-server.ts";
import { runPython } from "./python-tinker.ts";

interface Report {
  readonly cases: readonly string[];
  /** By case, with its stack. */
  readonly failures: Readonly<Record<string, string>>;
  readonly uncalled: readonly string[];
}

it("does everything that the SDK can ask for, or refuses it at once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tinker-sdk-"));
  // The SDK finds a tokenizer by the model's name.
  await using local = await startServer({ modelName: modelPath, folder });
  const url = await local.server.listen();
  const env = { TINKER_BASE_URL: url, TINKER_API_KEY: token };
  const report = (await runPython("contract.py", [url, token, modelPath], env)) as Report;
  expect(report.failures).toEqual({});
  expect(report.uncalled).toEqual([]);
  expect(report.cases.length).toBeGreaterThan(15);
  rmSync(folder, { recursive: true });
});
