/** Asks which model a project trains, with a table of what each takes. */
import { createInterface } from "node:readline";
import { knownModels, measured } from "../../launch/init/known-models.ts";
import type { CliIo } from "./io.ts";
import { colorsFor } from "./terminal.ts";

const hours = (minutes: number): string =>
  minutes < 100 ? `${Math.round(minutes)} min` : `${(minutes / 60).toFixed(1)} h`;

/** At most 80 columns wide. */
export function modelTable(bold: (text: string) => string, dim: (text: string) => string): string {
  const head = `   ${"model".padEnd(36)} ${"download".padStart(9)} ${"memory".padStart(8)} ${"100 steps".padStart(11)}`;
  const rows = knownModels.flatMap((model, i) => {
    const { name, downloadGb, memoryGib, minutesPer100Steps, isMeasured, goodFor } = model;
    const time = `${isMeasured ? "" : "~ "}${hours(minutesPer100Steps)}`;
    const cells = [`${downloadGb} GB`, `${memoryGib.toFixed(1)} GiB`, time];
    const [download = "", memory = "", steps = ""] = cells;
    return [
      `${i + 1}  ${name.padEnd(36)} ${download.padStart(9)} ${memory.padStart(8)} ${steps.padStart(11)}`,
      dim(`     ${goodFor}`),
    ];
  });
  return `${[bold(head), ...rows].join("\n")}
Measured: the first, on ${measured.machine}
(${measured.file}); ~: computed from it by parameters.
`;
}

/** A number of the table, or the name of any model; the first one for an empty answer. */
export function readChoice(answer: string): string | null {
  const text = answer.trim();
  if (text === "") return knownModels[0]?.name ?? null;
  if (!/^\d+$/u.test(text)) return text;
  return knownModels[Number(text) - 1]?.name ?? null;
}

/** Null where the question was not answered: the input ended, or Ctrl-C. */
export async function chooseModel(
  { stderr }: CliIo,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<string | null> {
  const { bold, dim } = colorsFor(stderr);
  stderr.write(modelTable(bold, dim));
  const prompt = `Number, OWNER/NAME, folder or .gguf file (1 to ${knownModels.length}) [1]: `;
  const lines = createInterface({ input, output, prompt });
  try {
    lines.prompt();
    for await (const answer of lines) {
      const choice = readChoice(answer);
      if (choice !== null) return choice;
      stderr.write(`There is no number ${answer.trim()} in the table.\n`);
      lines.prompt();
    }
    return null;
  } finally {
    lines.close();
  }
}
