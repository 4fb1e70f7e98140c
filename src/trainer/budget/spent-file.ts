/**
 * What a run has spent, in its folder and apart from its checkpoints: steps that were cut off, and those after a
 * checkpoint that the run goes back to, were paid for, too.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import { nothingUsed, type Usage } from "../../runs/spending.ts";
import { nothingSpent, type Spending } from "./budget.ts";

const fileOf = (run: string): string => join(run, "spent.json");

/** The numbers of `standard` that the file has; all of them are those of `standard` where one is not a number. */
function numbersOf<T extends object>(standard: T, found: unknown): T {
  const all = { ...standard, ...(found as Partial<T> | undefined) };
  const names = Object.keys(standard) as (keyof T)[];
  return names.every((name) => Number.isFinite(all[name] ?? 0)) ? all : standard;
}

/** Nothing where the file is missing, or cannot be read. */
function readSpent(run: string): Spending {
  try {
    const { largestStep, ...usage } = JSON.parse(readFileSync(fileOf(run), "utf8")) as Partial<
      Usage & Pick<Spending, "largestStep">
    >;
    return {
      usage: numbersOf(nothingUsed, usage),
      largestStep: numbersOf(nothingSpent, largestStep),
    };
  } catch {
    return { usage: nothingUsed, largestStep: nothingSpent };
  }
}

/** What all processes of the run have spent, at least what its checkpoint says. */
export function spentBefore(run: string, checkpoint: Usage = nothingUsed): Spending {
  const { usage, largestStep } = readSpent(run);
  const max = (name: keyof Usage): number => Math.max(usage[name], checkpoint[name] ?? 0);
  return {
    usage: {
      prompt: max("prompt"),
      sampled: max("sampled"),
      trained: max("trained"),
      hours: max("hours"),
      minutes: max("minutes"),
    },
    largestStep,
  };
}

export function writeSpent(run: string, { usage, largestStep }: Spending): void {
  writeFileAtomicSync(fileOf(run), `${JSON.stringify({ ...usage, largestStep })}\n`);
}
