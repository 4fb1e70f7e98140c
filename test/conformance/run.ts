/** Runs all cases with all targets, some at a time, and reports. Knows no test runner. */
import { isFor, type ConformanceCase } from "./case.ts";
import { cases } from "./cases/index.ts";
import { targets, type ConformanceTarget } from "./targets.ts";

export interface ConformanceReport {
  readonly cases: number;
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly error: string }[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Cases by client. */
  readonly clients: Readonly<Record<string, number>>;
}

const parallel = 4;

/** `only` is part of the names to run. */
export async function runCases(only: string): Promise<ConformanceReport> {
  const queue: { item: ConformanceCase; target: ConformanceTarget; name: string }[] = [];
  for (const target of targets) {
    for (const item of cases.filter((each) => isFor(target, each))) {
      queue.push({ item, target, name: `${target.name}: ${item.name}` });
    }
  }
  const chosen = queue.filter(({ name }) => name.includes(only));
  const failed: { name: string; error: string }[] = [];
  const skipped: { name: string; reason: string }[] = [];
  const clients: Record<string, number> = {};
  let passed = 0;
  const jobs = chosen.values();
  const work = async (): Promise<void> => {
    for (const { item, target, name } of jobs) {
      clients[item.client] = (clients[item.client] ?? 0) + 1;
      if (item.skip !== undefined) {
        skipped.push({ name, reason: item.skip });
        continue;
      }
      try {
        await item.run(target);
        passed++;
      } catch (error) {
        failed.push({ name, error: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { cases: chosen.length, passed, failed, skipped, clients };
}
