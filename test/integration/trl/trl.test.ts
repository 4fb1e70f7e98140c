/**
 * TRL's own trainers on the same token ids make the numbers in `test/finetune/trl-golden.json`, which the
 * unit tests compare with. Needs the environment of `npm run bench:setup:torch`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { trlInput } from "../../finetune/trl-input.ts";
import { modelPath } from "../../tinker/local-server.ts";
import { root } from "../root.ts";

const python = join(root, ".cache", "bench-torch", "bin", "python");
const golden = join(root, "test", "finetune", "trl-golden.json");

it.skipIf(!existsSync(python))(
  "logs the committed losses, gradient norms and rewards",
  async () => {
    const input = join(mkdtempSync(join(tmpdir(), "trl-")), "input.json");
    writeFileSync(input, JSON.stringify(await trlInput()));
    const script = join(root, "test", "integration", "trl", "ask.py");
    const { status, stdout, stderr } = spawnSync(python, [script, modelPath, input], {
      encoding: "utf8",
      env: { ...process.env, HF_HUB_OFFLINE: "1" },
    });
    expect(status, stderr.slice(-2000)).toBe(0);
    const measured = JSON.parse(stdout.trim().split("\n").at(-1)!) as object;
    if (process.env["UPDATE_GOLDEN"]) {
      writeFileSync(golden, `${JSON.stringify({ trl: "1.16.0", ...measured }, null, 2)}\n`);
    }
    const { trl: _, ...known } = JSON.parse(readFileSync(golden, "utf8")) as { trl: string };
    const numbers = (value: unknown): number[] =>
      typeof value === "number" ? [value] : Object.values(value as object).flatMap(numbers);
    const [ours, theirs] = [numbers(known), numbers(measured)];
    expect(theirs).toHaveLength(ours.length);
    for (const [i, value] of theirs.entries()) expect(value).toBeCloseTo(ours[i]!, 4);
  },
  600_000,
);
