/** What the bridge logs, in the folder of the run. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { redact } from "../../util/redact.ts";

/** For `onLog`: appends each line to `verl.log`, without keys. A log that cannot be written is no reason to stop. */
export function bridgeLog(runDir: string): (line: string) => void {
  const file = join(runDir, "verl.log");
  return (line) => {
    try {
      appendFileSync(file, `${redact(line)}\n`);
    } catch {
      // The last lines are in the error, should there be one.
    }
  };
}
