/** A run of an earlier version, whose options had flat names: it is read, compared and resumed as one of this version. */
import { copyFileSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Tree } from "../../src/config/camel-keys.ts";
import { inCurrentNames } from "../../src/config/compat/current-names.ts";
import { configFields } from "../../src/config/fields.ts";
import { loadConfig } from "../../src/config/load.ts";
import { readChangedOptions } from "../../src/runs/read-options.ts";
import { checkChanges, configChanges } from "../../src/runs/run-identity.ts";
import { explainOption } from "../../src/trainer/explain-option.ts";

const file = fileURLToPath(new URL("earlier-run.yaml", import.meta.url));
const stored = parse(readFileSync(file, "utf8")) as Tree;

/** The same run as one writes it now. */
const now = [
  "model.name=builtin:shop-tiny",
  "trainer.experiment_name=earlier",
  "algorithm.estimator={type: grpo_passk, norm_by_std: false}",
  "algorithm.loss={type: gspo, eps_clip: 1e-3}",
  "algorithm.loss_by_role={judge: {type: dro, beta: 0.2}}",
  "algorithm.aggregation={type: seq-mean-token-sum-norm, length: 512}",
  "algorithm.excluded_reasons=[max_prompt_length_exceeded, max_response_length_exceeded, max_turns_exceeded, timeout]",
  "algorithm.rollout_correction={type: sequence, cap: 0.5_2, reject: {token_k1: 2}}",
  // The default of that time.
  "rollout.side_calls=exclude",
  "training.lr_schedule={type: cosine, warmup: 0.1, min_ratio: 0.2}",
  "guards.on_non_finite={type: skip, max_updates: 5}",
  "data.curriculum={type: easy_first, difficulty_key: level}",
  "fine_tuning.loss={type: dpo, beta: 0.3}",
  "verl.launcher={type: job, url: http://head:8265}",
  "verl.placement={type: disaggregated, nodes: 2}",
  "tinker.base_url=http://127.0.0.1:8000",
];

describe("the options of a run of an earlier version", () => {
  it("are those of this one under their new names", () => {
    const { config } = loadConfig({ overrides: now });
    const earlier = loadConfig({ file });
    expect(earlier.config).toEqual(config);
    expect(earlier.warnings.filter((text) => !text.includes("it needs"))).toEqual([]);
  });

  it("are no other run", () => {
    const { config } = loadConfig({ overrides: now });
    const changes = configChanges(inCurrentNames(stored), config);
    expect(changes).toEqual([]);
    const other = loadConfig({ overrides: [...now, "algorithm.loss.eps_clip=2e-3"] }).config;
    const changed = configChanges(inCurrentNames(stored), other);
    expect(() => checkChanges(changed, "runs/a", false)).toThrow(
      "algorithm.loss.eps_clip was 0.001 and is 0.002",
    );
  });

  it("are shown under the names of this one", () => {
    const folder = mkdtempSync(join(tmpdir(), "agent-trainer-earlier-"));
    copyFileSync(file, join(folder, "config.resolved.yaml"));
    const keys = readChangedOptions(folder).map(({ key }) => key);
    const known = new Set(configFields().map(({ key }) => key));
    expect(keys.filter((key) => !known.has(key))).toEqual([]);
    expect(keys).toEqual(
      expect.arrayContaining(["algorithm.loss.type", "algorithm.loss.eps_clip"]),
    );
  });

  it("are explained by their new names, or as being without effect", () => {
    const leaves = (tree: Tree, path = ""): string[] =>
      Object.entries(tree).flatMap(([name, value]) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? leaves(value as Tree, `${path}${name}.`)
          : [`${path}${name}`],
      );
    const known = new Set(configFields().map(({ key }) => key));
    for (const key of leaves(stored).filter((one) => !known.has(one))) {
      const explained = explainOption(key);
      if ("why" in explained && explained.why.startsWith("It has no effect")) continue;
      const names = "becomes" in explained ? explained.becomes : [explained.key];
      expect(
        names?.every((name) => known.has(name)),
        key,
      ).toBe(true);
    }
  });
});
