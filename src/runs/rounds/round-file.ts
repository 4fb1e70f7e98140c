/** The record of a round, `round.json` in its folder, which is that of the run that the round trains, too. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import type { Round } from "./round.ts";

const format = "agent-trainer/round/1";
const fileName = "round.json";
const name = /^round-(\d{6,})$/u;

/** `round-000001` */
export const roundName = (round: number): string => `round-${String(round).padStart(6, "0")}`;

export const roundFolder = (folder: string, round: number): string =>
  join(folder, roundName(round));

/** @throws ConfigError for a file that is not of this format. */
function readRound(path: string): Round {
  const text = namingFile({ path }, () => readFileSync(path, "utf8"));
  try {
    const { format: found, ...round } = JSON.parse(text) as Round & { format?: unknown };
    if (found === format) return round;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConfigError({
    message: `${path} is no record of a round: it is not of the format "${format}".`,
    hint: "Restore it, or move the folder of the round away.",
    fields: { path },
  });
}

/** Oldest first; none where there is no such folder. */
export function readRounds(folder: string): readonly Round[] {
  if (!existsSync(folder)) return [];
  return namingFile({ path: folder }, () => readdirSync(folder))
    .filter((entry) => name.test(entry) && existsSync(join(folder, entry, fileName)))
    .map((entry) => readRound(join(folder, entry, fileName)))
    .toSorted((a, b) => a.round - b.round);
}

/** Creates or replaces the record, in a folder that exists. */
export function writeRound(folder: string, round: Round): void {
  const path = join(roundFolder(folder, round.round), fileName);
  const text = `${JSON.stringify({ format, ...round }, null, 2)}\n`;
  namingFile({ path }, () => writeFileAtomicSync(path, text));
}
