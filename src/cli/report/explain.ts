/** One option as text for people. */
import type { ExplainedForeign, ExplainedOption, Honoured } from "../../trainer/explain-option.ts";
import { explainOption } from "../../trainer/explain-option.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { valueAt } from "../../config/tree.ts";

const shown = (value: unknown): string => JSON.stringify(value) ?? "nothing";

function honouredText(honoured: Honoured): string {
  if (honoured === "all") return "honoured";
  if (honoured === "none") return "refused";
  if (honoured === "own") return "an option of another backend";
  return `honours ${honoured.map(String).join(", ")}`;
}

function foreignLines({ key, becomes, only, why }: ExplainedForeign): string[] {
  return [
    `${key}: ${why}`,
    ...(becomes === undefined ? [] : [`here        ${becomes.join(", ")}`]),
    ...(only === undefined ? [] : [`accepted    ${only.map(shown).join(" or ")}`]),
  ];
}

function optionLines(option: ExplainedOption, loaded: LoadedConfig | null): string[] {
  const { key, description, allowed, honoured, otherNames } = option;
  return [
    `${key}: ${description}`,
    `allowed     ${allowed}`,
    `default     ${option.default === undefined ? "none: it is required" : shown(option.default)}`,
    ...(loaded === null
      ? []
      : [
          `now         ${shown(valueAt(loaded.tree, key))} (${loaded.origins.get(key) ?? "default"})`,
        ]),
    ...Object.entries(honoured).map(
      ([backend, values]) => `${backend.padEnd(12)}${honouredText(values)}`,
    ),
    ...(otherNames.length === 0 ? [] : [`also        ${otherNames.join(", ")}`]),
  ];
}

/** @throws ConfigError when there is no such option. */
export function formatExplained(key: string, loaded: LoadedConfig | null): string {
  const explained = explainOption(key);
  const lines = "honoured" in explained ? optionLines(explained, loaded) : foreignLines(explained);
  return lines.map((line) => `${line}\n`).join("");
}

/** The same as one value for machines. */
export function explainedAsJson(key: string, loaded: LoadedConfig | null): unknown {
  const explained = explainOption(key);
  if (loaded === null || !("honoured" in explained)) return explained;
  return {
    ...explained,
    value: valueAt(loaded.tree, explained.key),
    origin: loaded.origins.get(explained.key),
  };
}
