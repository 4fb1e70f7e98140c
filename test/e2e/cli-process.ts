/** Runs the compiled command line as a process of its own, in a folder of its own. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const main = join(root, "dist/cli/main.js");
export const shop = join(root, "dist/examples/shop");

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Its standard input. @default nothing */
  readonly input?: string;
  /** Looks at what has been printed and may end the process. */
  readonly onOutput?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
}

export function cli(
  args: readonly string[],
  { cwd, input, onOutput }: RunOptions,
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd,
      env: { ...process.env, NO_COLOR: "1" },
    });
    if (input !== undefined) child.stdin.end(input);
    let stdout = "";
    let stderr = "";
    const look = (text: string): void => onOutput?.(text, (signal) => child.kill(signal));
    child.stdout.on("data", (chunk: Buffer) => look((stdout += chunk.toString())));
    child.stderr.on("data", (chunk: Buffer) => look((stderr += chunk.toString())));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** A temporary folder that disposes of itself. */
export async function temporaryFolder(): Promise<{
  path: string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const path = await mkdtemp(join(tmpdir(), "agent-trainer-e2e-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A short run of the shop agent; `lines` replace or add top-level YAML. */
export async function writeConfig(
  folder: string,
  lines: Readonly<Record<string, string>> = {},
): Promise<string> {
  const parts: Record<string, string> = {
    backend: "local",
    model: "{ name: 'builtin:shop-tiny' }",
    agent: `${shop}/agent.js#agent`,
    evaluator: `${shop}/evaluator.js#evaluator`,
    dataset: `{ train: '${shop}/tasks.js#trainTasks' }`,
    data: "{ train_batch_size: 4 }",
    rollout: "{ n: 4, train: { max_tokens: 32 } }",
    training: "{ learning_rate: 5.0e-4 }",
    trainer: "{ total_batches: 2, experiment_name: run, seed: 5 }",
    ...lines,
  };
  const file = join(folder, "run.yaml");
  await writeFile(
    file,
    Object.entries(parts)
      .map(([key, value]) => `${key}: ${value}\n`)
      .join(""),
  );
  return file;
}

/** Metrics by line, without what depends on the clock. */
export async function steadyMetrics(runDir: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(runDir, "metrics.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const entries = Object.entries(JSON.parse(line) as Record<string, unknown>);
      return Object.fromEntries(
        entries.filter(([key]) => !/(?:^|\/)time(?:\/|$)|per_s$|busy_s$/.test(key)),
      );
    });
}
