/** Help text of a run's options, from the schema: those of most files, or all in the sections of the file. */
import { type ConfigField, configFields } from "../../config/fields.ts";
import { groupBy } from "../../util/group-by.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** What most files set, in the order of the help. */
const first = [
  "agent",
  "evaluator",
  "env",
  "model.name",
  "dataset.train",
  "dataset.val",
  "backend",
  "data.train_batch_size",
  "rollout.n",
  "training.learning_rate",
  "trainer.total_batches",
  "trainer.test_freq",
];

/** Narrower terminals have no room for a meaning next to key and default. */
const widest = 120;

/** One line per option: key, default, meaning; in a narrow terminal the meaning is below. */
export function lineOf(
  { key, description, ...field }: ConfigField,
  columns: number | undefined,
): string {
  const value = field.default === undefined ? "required" : JSON.stringify(field.default);
  const head = `  ${key.padEnd(38)} ${value.padEnd(14)}`;
  return columns !== undefined && columns < widest
    ? wrapText(`${head.trimEnd()}\n      ${description}`, columns)
    : wrapText(`${head} ${description}`, columns, 54);
}

const firstSentence = (text: string): string => text.split(/(?<=\.) /u)[0] ?? text;

function formatFirst(fields: readonly ConfigField[], columns: number | undefined): string {
  const lines = first.flatMap((name) =>
    fields.flatMap(({ key, description, ...field }) =>
      key === name
        ? [lineOf({ ...field, key, description: firstSentence(description) }, columns)]
        : [],
    ),
  );
  return `Options of CONFIG.yaml and of key=value that most runs set, with their defaults:
${lines.join("\n")}

All ${fields.length} of them: agent-trainer train --help all
All of one: agent-trainer train --explain KEY
`;
}

/** Those at the top of the file first. */
function formatAll(fields: readonly ConfigField[], columns: number | undefined): string {
  const sections = groupBy(fields, ({ key }) => (key.includes(".") ? key.split(".")[0]! : ""));
  const { "": top = [], ...others } = Object.fromEntries(sections);
  const parts = Object.entries({ "without a section": top, ...others }).map(
    ([name, of]) => `${name}:\n${of.map((field) => `${lineOf(field, columns)}\n`).join("")}`,
  );
  return `Options of CONFIG.yaml and of key=value, with their defaults:\n\n${parts.join("\n")}`;
}

export function formatConfigHelp(columns: number | undefined, isAll: boolean): string {
  const fields = configFields();
  return isAll ? formatAll(fields, columns) : formatFirst(fields, columns);
}
