import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { configTypes, configTypesFile } from "../../scripts/option-types.ts";
import { publishedSchema, schemaFile } from "../../scripts/option-json-schema.ts";
import { root } from "./pages.ts";

const published = JSON.parse(readFileSync(join(root, schemaFile), "utf8")) as unknown;
const check = z.fromJSONSchema(published as Parameters<typeof z.fromJSONSchema>[0]);

const isFine = (yaml: string): boolean => check.safeParse(parse(yaml)).success;

it("is the one that is published: npm run schema writes it", () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(publishedSchema())));
});

it("has the options' TypeScript interface written from it", () => {
  // The formatter breaks long unions.
  const tokens = (text: string): string =>
    text
      .replaceAll(/\s+\|?\s*/gu, " ")
      .replaceAll(": | ", ": ")
      .replaceAll("( ", "(")
      .replaceAll(" )", ")");
  const written = readFileSync(join(root, configTypesFile), "utf8");
  expect(tokens(written)).toBe(tokens(configTypes()));
});

it.each([
  "model: {name: m}",
  "rollout: {n: 4}",
  "defaults: [base]\nrollout: {n: '${data.train_batch_size}'}",
  "rllm: {algorithm: {adv_estimator: grpo}}\ntraining: {group_size: 4}",
  "algorithm: {estimator: ./mine.ts#fn, estimator_by_role: {judge: rloo}}",
  "algorithm: {loss_fn: dro, rollout_correction: {tis_mode: token, tis_cap: 2}}",
  "algorithm: {loss: {type: ppo, eps_clip: 0.1}, aggregation: {length: 512}}",
])("takes %s", (yaml) => {
  expect(isFine(yaml)).toBe(true);
});

it.each([
  "rollout: {n: 0}",
  "rolout: {n: 4}",
  "rollout: {m: 4}",
  "algorithm: {loss: pposs}",
  "algorithm: {loss: {type: ppo, beta: 1}}",
  "trainer: {val_before_train: yes please}",
])("refuses %s", (yaml) => {
  expect(isFine(yaml)).toBe(false);
});
