/** The executable as a process of its own: exit statuses, streams, Ctrl-C. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const main = join(import.meta.dirname, "main.ts");
const coinBackend = join(root, "test/trainer/coin-backend.ts");

interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(args: readonly string[], onError?: (text: string) => boolean): Promise<Finished> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=agent-trainer-source", main, ...args],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let [out, err] = ["", ""];
  let isInterrupted = false;
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => {
    err += data.toString();
    if (isInterrupted || onError?.(err) !== true) return;
    isInterrupted = true;
    child.kill("SIGINT");
  });
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done({ code, out, err }));
  });
}

function coinProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-main-"));
  writeFileSync(join(folder, "train.jsonl"), '{"question": "a"}\n{"question": "b"}\n');
  writeFileSync(
    join(folder, "parts.mjs"),
    `export async function agent(task, { baseUrl, apiKey, model }) {
      const response = await fetch(baseUrl + "/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer " + apiKey },
        body: JSON.stringify({ model, messages: [{ role: "user", content: task.instruction }] }),
      });
      return (await response.json()).choices[0].message.content;
    }
    export const broken = () => { throw new Error("the tool is down"); };
    export const evaluator = (task, episode) => episode.output === "yes";
    `,
  );
  writeFileSync(
    join(folder, "run.yaml"),
    `model: {name: coin}
backend: ${coinBackend}#coinBackend
agent: parts.mjs
evaluator: parts.mjs
dataset: {train: train.jsonl}
rollout: {n: 4}
training: {learning_rate: 0.5}
workflow: {retry_limit: 0}
trainer: {total_batches: 3, output_dir: ${folder}/runs, experiment_name: coin}
`,
  );
  return folder;
}

describe("agent-trainer", { timeout: 60_000 }, () => {
  it("trains, with the result alone on stdout", async () => {
    const folder = coinProject();
    const { code, out, err } = await start(["train", join(folder, "run.yaml"), "--json"]);
    expect(err).toContain("step 3/3");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ...{ status: "completed", steps: 3, totalSteps: 3, seed: 0 },
      runDir: join(folder, "runs/coin"),
    });
  });

  it("stops at Ctrl-C with 130, a checkpoint and the command that goes on", async () => {
    const folder = coinProject();
    const file = join(folder, "run.yaml");
    const args = ["train", file, "trainer.total_batches=100000"];
    const { code, err } = await start(args, (text) => text.includes("step 2/"));
    expect(code).toBe(130);
    const runDir = join(folder, "runs/coin");
    expect(readdirSync(join(runDir, "checkpoints"))).toHaveLength(1);
    expect(err).toContain("To go on: node ");
    expect(err).toContain(` train ${file} trainer.total_batches=100000 --resume ${runDir}\n`);
    const step = Number(readdirSync(join(runDir, "checkpoints"))[0]);
    const next = await start([
      ...["train", file, `trainer.total_batches=${step + 1}`, "--resume", runDir, "--json"],
    ]);
    expect(next.code).toBe(0);
    expect(JSON.parse(next.out)).toMatchObject({ status: "completed", steps: step + 1 });
  });

  it("says at Ctrl-C before the first step that nothing was saved, and how to start again", async () => {
    const folder = coinProject();
    const file = join(folder, "run.yaml");
    const args = ["train", file, "trainer.total_batches=100000"];
    const { code, err } = await start(args, (text) => text.includes("seed 0"));
    expect(code).toBe(130);
    expect(readdirSync(join(folder, "runs/coin/checkpoints"))).toEqual([]);
    expect(err).not.toContain("To go on");
    expect(err).toMatch(/Nothing was saved, .* To start again: .* --resume\n/u);
    const next = await start(["train", file, "--resume", "--json"]);
    expect(next.code, next.err).toBe(0);
    expect(next.err).toContain("warning: There is no run to resume in ");
    expect(JSON.parse(next.out)).toMatchObject({ status: "completed", steps: 3 });
  });

  it("fails with 1 and one sentence when the agent always fails", async () => {
    const folder = coinProject();
    const { code, out, err } = await start([
      ...["train", join(folder, "run.yaml"), "agent=parts.mjs#broken"],
    ]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("8 of 8 rollouts of step 1 failed");
    expect(err).toContain("the tool is down");
    expect(err).not.toContain("    at ");
  });

  it("fails with 2 for an unknown command", async () => {
    const { code, out, err } = await start(["trian"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("Did you mean train?");
  });
});
