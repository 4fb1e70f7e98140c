import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readSweepArguments, splitValues } from "./sweep-arguments.ts";

const folder = mkdtempSync(join(tmpdir(), "agent-trainer-sweep-"));
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const shop = file("shop.yaml", "model: {name: m}\n");

it.each([
  ["1,2", ["1", "2"]],
  ["[1,2],[3]", ["[1,2]", "[3]"]],
  ["{type: ppo, eps_clip: 0.1},ppo", ["{type: ppo, eps_clip: 0.1}", "ppo"]],
  ['"a,b",c', ['"a,b"', "c"]],
  ["one", ["one"]],
])("splits %s", (text, parts) => {
  expect(splitValues(text)).toEqual(parts);
});

it("searches values between commas, and passes other overrides on", () => {
  const words = [
    "training.learning_rate=1e-4,1e-3",
    "rollout.n=8",
    "~data.seed",
    "agent=a.ts,b.ts",
  ];
  expect(readSweepArguments(shop, words)).toMatchObject({
    configFile: shop,
    parameters: { "training.learning_rate": [1e-4, 1e-3], agent: ["a.ts", "b.ts"] },
    overrides: ["rollout.n=8", "~data.seed"],
    seeds: 1,
  });
});

it("reads the file of a sweep, and lets words replace what it searches", () => {
  const path = file(
    "lr.yaml",
    `config: shop.yaml
parameters:
  training.learning_rate: {min: 1.0e-4, max: 1.0e-2, scale: log}
  rollout.n: [4, 8]
search: random
runs: 12
seeds: 3
minutes: 60
`,
  );
  expect(readSweepArguments(path, ["rollout.n=16"])).toMatchObject({
    configFile: shop,
    name: "lr",
    parameters: { "training.learning_rate": { min: 1e-4, max: 1e-2, scale: "log" } },
    overrides: ["rollout.n=16"],
    search: "random",
    runs: 12,
    seeds: 3,
    minutes: 60,
  });
});

it("says what is wrong with the file of a sweep", () => {
  const path = file("bad.yaml", "config: shop.yaml\nparameters: {a: []}\nseed: 3\n");
  expect(() => readSweepArguments(path, [])).toThrow(
    /bad\.yaml is not the file of a sweep: .*seed/u,
  );
  expect(() => readSweepArguments(join(folder, "none.yaml"), [])).toThrow("none.yaml");
  expect(() => readSweepArguments(file("broken.yaml", "a: [\n"), [])).toThrow("not valid YAML");
});
