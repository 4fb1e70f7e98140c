/** Asks which model a project trains, with a table of what each takes. */
import { createInterface } from "node:readline";
import { knownModels, measured, stepText } from "../../launch/init/known-models.ts";
import type { CliIo } from "./io.ts";
import { colorsFor } from "./terminal.ts";

/** At most 80 columns wide. */
export function modelTable(bold: (text: string) => string, dim: (text: string) => string): string {
  const head = `   ${"model".padEnd(36)} ${"download".padStart(9)} ${"memory".padStart(8)} ${"a step".padStart(11)}`;
  const rows = knownModels.flatMap((model, i) => {
    const { name, downloadGb, memoryGib, stepSeconds, isMeasured, goodFor } = model;
    const time = `${isMeasured ? "" : "~ "}${stepText(stepSeconds)}`;
    const cells = [`~ ${downloadGb} GB`, `${memoryGib.toFixed(1)} GiB`, time];
    const [download = "", memory = "", steps = ""] = cells;
    return [
      `${i + 1}  ${name.padEnd(36)} ${download.padStart(9)} ${memory.padStart(8)} ${steps.padStart(11)}`,
      dim(`     ${goodFor}`),
    ];
  });
  return `${[bold(head), ...rows].join("\n")}
A step of 128 rollouts: measured with the first model on
${measured.machine} (${measured.file});
memory: in 32-bit floats (${measured.memoryFile});
~: about, or computed from that.
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
