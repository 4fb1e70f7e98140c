/** Every option is read by code that does not declare or check it, so that none is dead. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toCamel } from "../../../src/config/camel-keys.ts";
import { configFields } from "../../../src/config/fields.ts";
import { root } from "../../docs/pages.ts";

const comments = /\/\*[\s\S]*?\*\/|\/\/.*/gu;
const texts = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/gu;

/** What `src/config/` derives from options for others; the rest of the folder only declares and checks them. */
const derived = "config/batch-size.ts";

/** The sources without comments and strings, which name options but do not read them. */
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .filter((path) => !path.startsWith("config/") || path === derived)
  .map((path) =>
    readFileSync(join(root, "src", path), "utf8")
      .replaceAll(comments, "")
      .replaceAll(texts, '""'),
  );

/** Types of parts of the configuration, which functions take in place of the whole. */
const typesOfSections: Readonly<Record<string, string>> = {
  "algorithm.rollout_correction": "RolloutCorrectionOptions",
  guards: "Guards",
};

/** Sections that are passed on as a whole, by a rest or spread, with the type that declares their options. */
const passedOn: Readonly<Record<string, string>> = {
  local: "LocalBackendOptions",
  "tracking.opentelemetry": "OpenTelemetryOptions",
  "tracking.prometheus": "PrometheusOptions",
  "rollout.train": "SamplingParams",
  "rollout.val": "SamplingParams",
};

const has = (source: string, name: string): boolean =>
  new RegExp(String.raw`\b${name}\b`, "u").test(source);

/** Whether some file names the option together with its section or the section's type. */
function isRead(key: string): boolean {
  const parts = key.split(".");
  const leaf = toCamel(parts.pop()!);
  const section = parts.join(".");
  const owners = [
    toCamel(parts.at(-1) ?? "config"),
    typesOfSections[section],
    passedOn[section],
  ].filter((name) => name !== undefined);
  return sources.some((source) => has(source, leaf) && owners.some((name) => has(source, name)));
}

it.each(configFields().map(({ key }) => key))("%s is read", (key) => {
  expect(isRead(key)).toBe(true);
});

it("would find an option that nothing reads", () => {
  expect(isRead("trainer.project_name")).toBe(false);
  expect(isRead("rollout.train.randomness")).toBe(false);
});
