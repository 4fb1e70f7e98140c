import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { namedCheckpoint } from "./checkpoint-name.ts";

/** A run with the checkpoints 5 and 10, whose best validation was that of `best`. */
function runWith(best: object | null, isNewestReadable = true): string {
  const run = mkdtempSync(join(tmpdir(), "checkpoint-name-"));
  writeFileSync(join(run, "config.resolved.yaml"), "");
  for (const name of ["000005", "000010"]) {
    mkdirSync(join(run, "checkpoints", name), { recursive: true });
    const text = name === "000010" && !isNewestReadable ? "{" : JSON.stringify({ best });
    writeFileSync(join(run, "checkpoints", name, "state.json"), text);
  }
  return run;
}
const named = (path: string): string => namedCheckpoint(path, ({ message }) => new Error(message));

it("is the checkpoint of the best validation, or the run for the newest", () => {
  const run = runWith({ step: 5, value: 1 });
  const best = join(run, "checkpoints/000005");
  expect(named(join(run, "best"))).toBe(best);
  expect(named(join(run, "checkpoints/best"))).toBe(best);
  expect(named(join(run, "latest"))).toBe(run);
  expect(named(join(run, "checkpoints/latest"))).toBe(run);
});

it("is known to the checkpoint before a damaged one", () => {
  const run = runWith({ step: 5, value: 1 }, false);
  expect(named(join(run, "best"))).toBe(join(run, "checkpoints/000005"));
});

it("says why there is no best checkpoint", () => {
  expect(() => named(join(runWith(null), "best"))).toThrow("saved no validation");
  const lost = runWith({ step: 7, value: 1 });
  expect(() => named(join(lost, "best"))).toThrow("that of step 7, whose checkpoint was not kept");
});

it("leaves other paths as they are, and folders of such a name", () => {
  const run = runWith(null);
  mkdirSync(join(run, "best"));
  const others = [join(run, "best"), run, join(run, "checkpoints/000010"), "OWNER/best", "latest"];
  expect(others.map(named)).toEqual(others);
});
