/** The command line as a process, and a project that trains a coin with it: seconds, no engine. */
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundlePrograms, newBundleFolder } from "../bundle-program.ts";

export const root: string = resolve(import.meta.dirname, "../..");

const bundles = newBundleFolder();
/** Modules that programs import; they are there from the first start on. */
export const coinBackend: string = join(bundles, "coin-backend.mjs");
export const library: string = join(bundles, "index.mjs");
let bundled: Promise<void> | undefined;
const bundle = (): Promise<void> =>
  (bundled ??= bundlePrograms(
    {
      main: join(root, "src/cli/main.ts"),
      index: join(root, "src/index.ts"),
      "coin-backend": join(root, "test/trainer/coin-backend.ts"),
    },
    bundles,
  ));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Of Node, to run the command line. */
export async function argumentsOf(args: readonly string[]): Promise<string[]> {
  await bundle();
  return [join(bundles, "main.mjs"), ...args];
}

/** Runs the command line; `onError` sees all of stderr and may ask for a SIGINT, once. */
export async function start(
  args: readonly string[],
  onError?: (text: string) => boolean,
): Promise<Finished> {
  return run(await argumentsOf(args), onError);
}

/** Runs a program with its arguments. */
export async function run(
  args: readonly string[],
  onError?: (text: string) => boolean,
): Promise<Finished> {
  await bundle();
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
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
    child.on("close", (code, signal) => done({ code, signal, out, err }));
  });
}

const parts = `export async function agent(task, { baseUrl, apiKey, model }) {
  const response = await fetch(baseUrl + "/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer " + apiKey },
    body: JSON.stringify({ model, messages: [{ role: "user", content: task.instruction }] }),
  });
  return (await response.json()).choices[0].message.content;
}
export const broken = () => { throw new Error("the tool is down"); };
export const evaluator = (task, episode) => episode.output === "yes";
`;

/** A folder with `run.yaml`, `parts.mjs` and `train.jsonl`; `files` are added or replace them. */
export function coinProject(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-main-"));
  const all = {
    "train.jsonl": '{"question": "a"}\n{"question": "b"}\n',
    "parts.mjs": parts,
    "run.yaml": `model: {name: coin}
backend: ${coinBackend}#coinBackend
agent: parts.mjs
evaluator: parts.mjs
dataset: {train: train.jsonl}
rollout: {n: 4}
training: {learning_rate: 0.5}
workflow: {retry_limit: 0}
trainer: {total_batches: 3, output_dir: ${folder}/runs, experiment_name: coin}
`,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
  return folder;
}
