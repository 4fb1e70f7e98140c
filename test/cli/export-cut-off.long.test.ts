/** A run whose responses the limit of tokens cut off, from the shared cases: none of them is exported as a whole one. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { curate } from "../../src/production/curate/curate.ts";
import { root } from "../docs/pages.ts";
import { sharedCases } from "../shared-cases.ts";

const cases = sharedCases("training/cut-off-responses/");
// Inside of the repository, where the engine's thread finds tsx.
mkdirSync(join(root, ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, ".cache", "cut-off-"));
const before = process.cwd();
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: string[]) {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

it.skipIf(cases === null)(
  "is not exported, nor curated (skipped where the shared cases are not at hand)",
  async () => {
    cpSync(cases!, folder, { recursive: true });
    process.chdir(folder);
    const trained = await run("train", "c.yaml", "trainer.output_dir=runs", "--json", "--quiet");
    expect(trained.code, trained.err).toBe(0);
    const { runDir } = JSON.parse(trained.out) as { runDir: string };
    for (const format of ["chat", "pairs"]) {
      const { code, out, err } = await run("export", runDir, "--format", format);
      expect([code, out]).toEqual([2, ""]);
      expect(err).toContain("nothing to export");
      expect(err).toContain("8 cut off");
    }
    const collected = await run("collect", "store", runDir, "--format", "run");
    expect(collected.code, collected.err).toBe(0);
    const report = await curate({ folder: "store", output: "curated", unrated: true });
    expect(report.dropped).toEqual({ "cut off": 8 });
    expect(report.rows.demonstrations).toEqual({ train: 0, val: 0 });
  },
);
