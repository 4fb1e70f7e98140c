import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../config/load.ts";
import { loadAlgorithms } from "./load-algorithms.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-estimators-"));
writeFileSync(
  join(folder, "mine.mjs"),
  `export const twice = (groups) => groups.map((r) => Float64Array.from(r, (x) => 2 * x));
export const half = ({ logprob, advantage }) => (-logprob * advantage) / 2;
`,
);

const load = (...overrides: string[]) =>
  loadAlgorithms(loadConfig({ overrides: ["model.name=m", ...overrides] }).config, folder);

it("loads what options name as path#export, relative to their file, and nothing else", async () => {
  const loaded = await load(
    "algorithm.estimator=./mine.mjs#twice",
    "algorithm.estimator_by_role={judge: rloo, solver: ./mine.mjs#twice}",
  );
  expect(Object.keys(loaded.estimators)).toEqual(["./mine.mjs#twice"]);
  const options = {
    ...{ normByStd: true, lengths: [[1, 1]] },
    ...{ signals: [], outcomes: [], weights: new Map() },
  };
  expect(loaded.estimators["./mine.mjs#twice"]?.([[1, 3]], options)).toEqual([
    Float64Array.of(2, 6),
  ]);
  expect(loaded.losses).toEqual({});
  expect(await load()).toEqual({ estimators: {}, losses: {} });
});

it("loads losses, of all roles and of single ones", async () => {
  const all = await load("algorithm.loss=./mine.mjs#half");
  const judge = await load("algorithm.loss_by_role={judge: ./mine.mjs#half, solver: dro}");
  for (const { losses } of [all, judge]) {
    const half = losses["./mine.mjs#half"] as (token: object) => number;
    expect(half({ logprob: -3, advantage: 2 })).toBe(3);
    expect(Object.keys(losses)).toEqual(["./mine.mjs#half"]);
  }
});

it("reports the option that names a missing export or file", async () => {
  await expect(load("algorithm.estimator=./mine.mjs#twcie")).rejects.toMatchObject({
    message: expect.stringContaining('exports no "twcie"'),
    hint: "Did you mean algorithm.estimator: ./mine.mjs#twice?",
  });
  await expect(load("algorithm.estimator_by_role={judge: ./no.mjs#x}")).rejects.toThrow(
    "algorithm.estimator_by_role.judge names",
  );
});
