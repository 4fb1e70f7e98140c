/** `agent-trainer export --format trackio`, logged and read back with Trackio itself. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../../src/cli/program.ts";
import { coinTasks, coinTrainer } from "../../trainer/coin-run.ts";
import { pythonEnvironment } from "../python-environment.ts";
import { root } from "../root.ts";

it(
  "Trackio stores the episodes of a run as traces, and finds them",
  { timeout: 600_000 },
  async () => {
    const python = pythonEnvironment({ name: "trackio", packages: ["trackio==0.43.0"] });
    const { trainer } = coinTrainer({
      valDataset: coinTasks.slice(0, 1),
      set: { "trainer.total_batches": 2 },
    });
    const { runDir } = await trainer.train();
    const folder = mkdtempSync(join(tmpdir(), "trackio-"));
    const output = join(folder, "traces.jsonl");
    const quiet = { stdout: { write: () => true }, stderr: { write: () => true } } as never;
    const code = await runCli(["export", runDir, "--format", "trackio", "--output", output], quiet);
    expect(code).toBe(0);
    interface Row {
      step: number;
      key: string;
      trace: { messages: { content: string }[]; metadata: { episode_id: string } };
    }
    const rows = readFileSync(output, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row);
    const script = join(root, "test", "integration", "trackers", "read_trackio.py");
    const env = { ...process.env, TRACKIO_DIR: join(folder, "trackio") };
    const read = JSON.parse(
      execFileSync(python, [script, output], { encoding: "utf8", env }).split("\n").at(-2)!,
    ) as {
      traces: {
        id: string;
        step: number;
        key: string;
        messages: unknown;
        status: string;
        tokens: number[];
      }[];
      found: number;
    };
    const byId = new Map(read.traces.map((trace) => [trace.id, trace]));
    expect(byId.size).toBe(rows.length);
    for (const { step, key, trace } of rows) {
      const stored = byId.get(trace.metadata.episode_id)!;
      expect(stored).toMatchObject({ step, key, messages: trace.messages, status: "success" });
      expect(stored.tokens.every((count) => count > 0)).toBe(true);
    }
    expect(read.found).toBe(1);
  },
);
