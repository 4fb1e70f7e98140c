import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../trainer/config/load.ts";
import { loadEstimators } from "./load-estimators.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-estimators-"));
writeFileSync(
  join(folder, "mine.mjs"),
  "export const twice = (groups) => groups.map((r) => Float64Array.from(r, (x) => 2 * x));\n",
);

const load = (...overrides: string[]) =>
  loadEstimators(loadConfig({ overrides: ["model.name=m", ...overrides] }).config, folder);

it("loads what options name as path#export, relative to their file, and nothing else", async () => {
  const loaded = await load(
    "algorithm.adv_estimator=./mine.mjs#twice",
    "algorithm.estimator_map={judge: rloo, solver: ./mine.mjs#twice}",
  );
  expect(Object.keys(loaded)).toEqual(["./mine.mjs#twice"]);
  const options = { normByStd: true, lengths: [[1, 1]] };
  expect(loaded["./mine.mjs#twice"]?.([[1, 3]], options)).toEqual([Float64Array.of(2, 6)]);
  expect(await load()).toEqual({});
});

it("says which option names what is not there", async () => {
  await expect(load("algorithm.adv_estimator=./mine.mjs#twcie")).rejects.toMatchObject({
    message: expect.stringContaining('exports no "twcie"'),
    hint: "Did you mean algorithm.adv_estimator: ./mine.mjs#twice?",
  });
  await expect(load("algorithm.estimator_map={judge: ./no.mjs#x}")).rejects.toThrow(
    "algorithm.estimator_map.judge names",
  );
});
