/** Starts the process of a family, says so, and waits to be killed. */
import { environment } from "../../../src/environments/environment.ts";
import { environmentsPython } from "./python.ts";

const source = environment("reasoning-gym:chain_sum?size=7", { python: environmentsPython() });
for await (const task of source.tasks("test", {}, new AbortController().signal)) {
  process.stdout.write(`${task.id}\n`);
  break;
}
setInterval(() => undefined, 60_000);
