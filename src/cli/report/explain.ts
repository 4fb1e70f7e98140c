/** Formats the explanation of one option (`train --explain`). */
import {
  type ExplainedCompatKey,
  type ExplainedOption,
  type Supported,
  explainOption,
} from "../../trainer/explain-option.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { valueAt } from "../../config/tree.ts";

const shown = (value: unknown): string => JSON.stringify(value) ?? "nothing";

function supportedText(supported: Supported): string {
  if (supported === "all") return "supported";
  if (supported === "none") return "not supported";
  if (supported === "own") return "not applicable: an option of another backend";
  return `supports ${supported.map(String).join(", ")}`;
}

function compatLines({ key, becomes, only, why }: ExplainedCompatKey): string[] {
  return [
    `${key}: ${why}`,
    ...(becomes === undefined ? [] : [`use         ${becomes.join(", ")}`]),
    ...(only === undefined ? [] : [`accepted    ${only.map(shown).join(" or ")}`]),
  ];
}

function optionLines(option: ExplainedOption, loaded: LoadedConfig | null): string[] {
  const { key, description, allowed, supported, otherNames } = option;
  return [
    `${key}: ${description}`,
    `allowed     ${allowed}`,
    `default     ${option.default === undefined ? "none (required)" : shown(option.default)}`,
    ...(loaded === null
      ? []
      : [
          `now         ${shown(valueAt(loaded.tree, key))} (${loaded.origins.get(key) ?? "default"})`,
        ]),
    ...Object.entries(supported).map(
      ([backend, values]) => `${backend.padEnd(12)}${supportedText(values)}`,
    ),
    ...(otherNames.length === 0 ? [] : [`also        ${otherNames.join(", ")}`]),
  ];
}

/** @throws ConfigError when there is no such option. */
export function formatExplained(key: string, loaded: LoadedConfig | null): string {
  const explained = explainOption(key);
  const lines = "supported" in explained ? optionLines(explained, loaded) : compatLines(explained);
  return lines.map((line) => `${line}\n`).join("");
}

/** The same as one JSON value. */
export function explainedAsJson(key: string, loaded: LoadedConfig | null): unknown {
  const explained = explainOption(key);
  if (loaded === null || !("supported" in explained)) return explained;
  return {
    ...explained,
    value: valueAt(loaded.tree, explained.key),
    origin: loaded.origins.get(explained.key),
  };
}
