/** docs/methods.md: options that are valid, backends that have them, and something measured or the words that nothing was. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { type BackendName, capabilityMatrix } from "../../src/core/capabilities.ts";
import { UnsupportedOptionError } from "../../src/core/errors.ts";
import { checkFineTuning } from "../../src/launch/finetune/check-fine-tuning.ts";
import { checkCapabilities } from "../../src/trainer/check-capabilities.ts";

const page = readFileSync(new URL("../../docs/methods.md", import.meta.url), "utf8");
const rows = page
  .split("\n")
  .filter(
    (line) => line.startsWith("| ") && !line.startsWith("| method ") && !line.startsWith("| -"),
  )
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, method, , options, , backends, measured]) => ({
    method: method!,
    options: [...options!.matchAll(/`([^`]+)`/gu)].map(([, option]) => option!),
    backends: backends!,
    measured: measured!,
  }));

const names = Object.keys(capabilityMatrix) as BackendName[];

/** What a user of the method writes, on a command line. */
function configOf(options: readonly string[]) {
  const command = options
    .map((option) => /^agent-trainer (sft|dpo|kto)$/u.exec(option)?.[1])
    .find(Boolean);
  const set = options.filter((option) => option.includes("="));
  const own = command === undefined ? [] : [`fine_tuning.loss=${command}`];
  const { config } = loadConfig({
    overrides: ["model.name=m", "model.lora_rank=8", ...own, ...set],
  });
  return { config, isFineTuning: command !== undefined };
}

describe.each(rows)("$method", ({ options, backends, measured }) => {
  it("works through the backends that the page names, and is refused by name by the others", () => {
    const { config, isFineTuning } = configOf(options);
    const having = names.filter((name) => {
      const backend = { name, capabilities: capabilityMatrix[name] };
      try {
        if (isFineTuning) checkFineTuning(config, backend as never);
        else checkCapabilities(config, backend);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(UnsupportedOptionError);
        return false;
      }
    });
    const expected = backends === "all" ? names : backends.split(", ");
    expect(having).toEqual(expected);
  });

  it("has a measurement, or says that it has none", () => {
    expect(measured === "no curve" || /\]\([^)]+\)/u.test(measured)).toBe(true);
  });
});

it("finds the rows of the table", () => {
  expect(rows.length).toBeGreaterThan(20);
});
