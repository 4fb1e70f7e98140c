import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, temporaryFolder, writeConfig } from "./cli-process.ts";

/** At different moments of a step: while the engine samples and while it trains. */
it.each([0, 40, 90, 160, 250, 400])(
  "a second Ctrl-C, %i ms into a step, quits immediately without a native abort",
  async (wait) => {
    await using folder = await temporaryFolder();
    const config = await writeConfig(folder.path, {
      trainer: "{ total_batches: 200, experiment_name: run, seed: 5 }",
    });
    let sent = 0;
    const { code, signal, stderr } = await cli(["train", config], {
      cwd: folder.path,
      onOutput(text, kill) {
        if (sent === 0 && /\b2\/200\b/.test(text)) {
          sent = 1;
          setTimeout(() => kill("SIGINT"), wait);
        } else if (sent === 1 && text.includes("Ctrl-C again to quit immediately")) {
          sent = 2;
          kill("SIGINT");
        }
      },
    });
    expect(sent).toBe(2);
    expect(stderr).not.toMatch(/terminate called|Napi|Aborted|\n\s+at /);
    // A shell shows death by SIGINT as 130. The run may also have been saved before it.
    expect(signal ?? code).toBe(signal === null ? 130 : "SIGINT");
    const runDir = join(folder.path, "runs/run");
    expect(existsSync(join(runDir, "run.lock"))).toBe(false);
    const events = readFileSync(join(runDir, "events.jsonl"), "utf8");
    expect(events).toMatch(/"type":"run-end","status":"interrupted"/);
  },
);
