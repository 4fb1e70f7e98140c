/** What trackers write, read with TensorBoard's, W&B's and MLflow's own code. */
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { coinTrainer, newFolder, readLines } from "../../trainer/coin-run.ts";
import { pythonEnvironment } from "../python-environment.ts";
import { root } from "../root.ts";
import { startServer } from "../server-process.ts";
import { freePort } from "../../free-port.ts";

const metric = "reward/mean";
let python: string;

beforeAll(() => {
  python = pythonEnvironment({
    name: "trackers",
    packages: ["mlflow==3.17.2", "tensorboard==2.21.0", "wandb==0.31.0"],
  });
});

it(
  "TensorBoard, W&B and MLflow read what a resumed run sent them",
  { timeout: 600_000 },
  async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const store = mkdtempSync(join(tmpdir(), "mlflow-"));
    await using server = await startServer({
      command: python,
      args: [
        ...["-m", "mlflow", "server", "--workers", "1"],
        ...["--host", "127.0.0.1", "--port", String(port)],
        ...["--backend-store-uri", `sqlite:///${join(store, "mlflow.db")}`],
      ],
      healthUrl: `${url}/health`,
      limitMs: 240_000,
    });
    const outputDir = newFolder();
    let runDir = "";
    for (const steps of [2, 4]) {
      const { trainer } = coinTrainer({
        outputDir,
        resume: "auto",
        set: {
          "trainer.total_batches": steps,
          "tracking.trackers": ["tensorboard", "wandb", "mlflow"],
          "tracking.mlflow.url": url,
          "tracking.project": "shop",
        },
      });
      ({ runDir } = await trainer.train());
    }
    const script = join(root, "test", "integration", "trackers", "read_runs.py");
    const read = JSON.parse(
      execFileSync(python, [script, runDir, url, metric], { encoding: "utf8" }),
    ) as Record<"tensorboard", number[][]> & {
      wandb: { rows: number[][]; runs: unknown[][] };
      mlflow: { status: string; n: string; rows: number[][] };
    };
    const rows = readLines(runDir, "metrics.jsonl").map((line) => [line["step"], line[metric]]);
    expect(rows).toHaveLength(4);
    expect(read.wandb.rows).toEqual(rows);
    expect(read.wandb.runs).toEqual([
      ["shop", "coin", 4],
      ["shop", "coin", 4],
    ]);
    expect(read.mlflow).toEqual({ status: "FINISHED", n: "4", rows });
    expect(read.tensorboard).toEqual(
      rows.map(([step, value]) => [step, Math.fround(value as number)]),
    );
    expect(server.log()).not.toContain("Traceback");
  },
);
