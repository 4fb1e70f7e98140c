/** A server that is not ours to change, as a process: started, waited for, measured from outside, ended. */
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { ConfigError } from "../../src/core/errors.ts";

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  /** Processor time so far, of its own children too, in milliseconds. */
  cpuMs(): number;
  /** Resident memory of all of it. */
  residentMiB(): number;
  stop(): Promise<void>;
}

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  /** Answers 200 when it is ready. */
  readonly healthPath: string;
}

const readyLimitMs = 90_000;
/** Linux counts time in hundredths of a second for programs. */
const msPerTick = 10;
const kibPerMib = 1024;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** User and system time of one process. */
export function processCpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name before it may hold anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0) / kibPerMib;
}

function family(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")
      .split(" ")
      .filter(Boolean)
      .map(Number),
  );
  return [pid, ...children.flatMap(family)];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function responses(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

/** @throws Error with what the server wrote, when it does not become ready. */
export async function startServer(command: ServerCommand): Promise<ServerProcess> {
  if (process.platform !== "linux") {
    throw new ConfigError({ message: "Comparing gateways reads /proc, which only Linux has." });
  }
  const { port, healthPath } = command;
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(command.command, command.args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...command.env },
  });
  let output = "";
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.once("error", (error) => keep(Buffer.from(error.message)));
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => {
      process.removeListener("exit", kill);
      resolve();
    });
  });
  const start = performance.now();
  while (!(await responses(url + healthPath))) {
    if (
      child.exitCode !== null ||
      child.pid === undefined ||
      performance.now() - start > readyLimitMs
    ) {
      kill();
      throw new Error(`${command.command} did not become ready. It wrote:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { pid } = child as { pid: number };
  return {
    url,
    port,
    cpuMs: () => sum(family(pid).map(processCpuMs)),
    residentMiB: () => sum(family(pid).map(residentMiB)),
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(kill, 5000);
      await exited;
      clearTimeout(late);
    },
  };
}
