/** Help text of a run's options, generated from the schema. */
import { configFields } from "../../config/fields.ts";

/** One line per option: key, default, meaning. */
export function formatConfigHelp(): string {
  const lines = configFields().map(({ key, description, ...field }) => {
    const value = field.default === undefined ? "required" : JSON.stringify(field.default);
    return `  ${key.padEnd(38)} ${value.padEnd(14)} ${description}`;
  });
  return `Options of CONFIG.yaml and of key=value, with their defaults:\n${lines.join("\n")}\n`;
}
