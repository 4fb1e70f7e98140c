/** Where the Python environment for verifiers is. */
import { join } from "node:path";

/** Where `agent-trainer env setup` creates its environment, relative to the current folder. */
export const environmentsFolder: string = join(".agent-trainer", "environments");
