/**
 * Work in a process of its own, so that its memory is its own and other work does not disturb it. A
 * child is a file that calls `answer` (child-side.ts): one input comes in, one output goes out.
 */
import { fork } from "node:child_process";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

export interface Child<Output> {
  readonly output: Output;
  /** Processor time that it has used so far, in milliseconds. */
  cpuMs(): Promise<number>;
  /** That, and whatever else it says of itself. */
  ask(): Promise<Readonly<Record<string, number>>>;
  /** Ends the process. */
  stop(): Promise<void>;
}

/** Starts `file` and waits for its output; the process lives on for what it may be serving. */
export async function startChild<Output>(file: URL, input: object): Promise<Child<Output>> {
  const path = fileURLToPath(file);
  // Same flags as this process (TypeScript, sources). Its stdout is ours for the report, so it gets stderr.
  const child = fork(path, { stdio: ["ignore", 2, 2, "ipc"] });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => {
      process.removeListener("exit", kill);
      resolve();
    });
  });
  child.send(input);
  const output = await new Promise<Output>((resolve, reject) => {
    child.once("message", (message) => {
      resolve(message as Output);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      reject(new Error(`${basename(path)} ended without a result (${signal ?? code}).`));
    });
  });
  const ask = (): Promise<Record<string, number>> =>
    new Promise((resolve) => {
      child.once("message", (message) => {
        const { user, system, ...more } = message as Record<string, number>;
        resolve({ ...more, cpuMs: (user! + system!) / 1000 });
      });
      child.send("ask");
    });
  return {
    output,
    ask,
    cpuMs: async () => (await ask())["cpuMs"]!,
    async stop() {
      kill();
      await exited;
    },
  };
}

/** Starts `file`, waits for its output and ends it. */
export async function runChild<Output>(file: URL, input: object): Promise<Output> {
  const child = await startChild<Output>(file, input);
  await child.stop();
  return child.output;
}
