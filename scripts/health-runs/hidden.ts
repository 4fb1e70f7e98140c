/**
 * Runs with a planted fault under names that do not tell it, to be looked for in the viewer. `key.json` has the
 * names.
 *
 *   npx tsx --conditions=agent-trainer-source scripts/health-runs/hidden.ts OUT [NAME...]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shuffled } from "../../src/util/random.ts";
import { diseasedRuns } from "./diseased.ts";
import { trainCase } from "./train-case.ts";

const [out, ...given] = process.argv.slice(2);
if (out === undefined) {
  console.error("Usage: hidden.ts OUT [NAME...]");
  process.exit(2);
}
const wanted =
  given.length > 0 ? given : ["no-variance", "garbled", "rate-high", "truncation", "hacked"];
const unknown = wanted.filter((name) => diseasedRuns[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}: ${Object.keys(diseasedRuns).join(", ")}.`);
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const key: Record<string, string> = {};
for (const [i, name] of shuffled(wanted, Math.random).entries()) {
  const letter = `run-${String.fromCharCode("a".charCodeAt(0) + i)}`;
  key[letter] = name;
  const result = await trainCase(diseasedRuns[name]!, {
    "trainer.output_dir": out,
    "trainer.experiment_name": letter,
    "record.token_rows": 16,
    "record.http_body_kb": 16,
  });
  console.log(`${letter}: ${result.status}`);
}
writeFileSync(join(out, "key.json"), `${JSON.stringify(key, null, 2)}\n`);
