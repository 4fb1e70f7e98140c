/** What is known of a run of a sweep, from its folder and the record of the sweep. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readRun } from "../run-summary.ts";
import { configFile } from "../stored-config.ts";
import type { SweepRun } from "./sweep-report.ts";

export const holdsRun = (path: string): boolean => existsSync(join(path, configFile));

/** @param failed why runs failed, by their names; a run that failed to start has no folder */
export async function runState(
  path: string,
  name: string,
  failed: Readonly<Record<string, string>>,
): Promise<Pick<SweepRun, "status" | "message">> {
  const message = failed[name];
  if (message !== undefined) return { status: "failed", message };
  if (!holdsRun(path)) return { status: "waiting", message: null };
  const { status, reason } = await readRun(path);
  switch (status) {
    case "completed":
    case "untrained":
    case "out_of_budget":
    case "failed":
      return { status, message: reason };
    default:
      return { status: "waiting", message: null };
  }
}
