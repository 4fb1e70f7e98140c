/**
 * What a run has spent, in its folder and apart from its checkpoints: steps that were cut off, and those after a
 * checkpoint that the run goes back to, were paid for, too.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { nothingUsed, type Usage } from "../../runs/spending.ts";

const fileOf = (run: string): string => join(run, "spent.json");

/** Nothing where the file is missing, or cannot be read. */
function readSpent(run: string): Usage {
  try {
    const found = JSON.parse(readFileSync(fileOf(run), "utf8")) as Partial<Usage>;
    // Earlier versions counted no minutes.
    const all = { ...nothingUsed, ...found };
    return Object.values(all).every((value) => Number.isFinite(value)) ? all : nothingUsed;
  } catch {
    return nothingUsed;
  }
}

/** What all processes of the run have spent, at least what its checkpoint says. */
export function spentBefore(run: string, checkpoint: Usage = nothingUsed): Usage {
  const kept = readSpent(run);
  const max = (name: keyof Usage): number => Math.max(kept[name], checkpoint[name] ?? 0);
  return {
    prompt: max("prompt"),
    sampled: max("sampled"),
    trained: max("trained"),
    hours: max("hours"),
    minutes: max("minutes"),
  };
}

export function writeSpent(run: string, usage: Usage): void {
  writeFileAtomicSync(fileOf(run), `${JSON.stringify(usage)}\n`);
}
