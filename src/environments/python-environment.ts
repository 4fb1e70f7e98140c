/** The Python environment for verifiers and reasoning-gym. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pythonIn } from "../util/process/python-in.ts";

/** Where `agent-trainer env setup` creates its environment, relative to the current folder. */
export const environmentsFolder: string = join(".agent-trainer", "environments");

/** The interpreter there, or python3 where there is none. */
export function environmentsPython(): string {
  const own = pythonIn(environmentsFolder);
  return existsSync(own) ? own : "python3";
}
