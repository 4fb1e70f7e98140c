/** Help text of the options of a round, from their schema. */
import { improveJsonSchema } from "../../config/improve/improve-schema.ts";
import { fieldsOf } from "../../config/fields.ts";
import { lineOf } from "./option-help.ts";

export function formatImproveHelp(columns: number | undefined): string {
  const lines = fieldsOf(improveJsonSchema()).map((field) => lineOf(field, columns));
  return `Options of the file and of key=value, with their defaults; paths of the file are relative to it:\n${lines.join("\n")}\n`;
}
