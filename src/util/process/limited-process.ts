/**
 * A child process with limits on time, memory and output. It leads a process group, and at its end
 * everything that it started is killed, whichever way it ended.
 */
import { listenToAbort } from "../abort.ts";
import type { Duplex } from "node:stream";
import { type ProcessCommand, type StartedProcess, startProcess } from "./start-process.ts";
import { readFileSync } from "node:fs";

const maxProcesses = 200;
const pageBytes = 4096;

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process ended, or the system has no such file.
    return "";
  }
};

/** Resident bytes of a process and all below it; 0 where that cannot be found out. */
function usedMemory(pid: number): number {
  if (process.platform !== "linux") return 0;
  let total = 0;
  const waiting = [String(pid)];
  for (let seen = 0; waiting.length > 0 && seen < maxProcesses; seen++) {
    const id = waiting.pop()!;
    total += Number(read(`/proc/${id}/statm`).split(" ")[1] ?? 0) * pageBytes;
    waiting.push(...read(`/proc/${id}/task/${id}/children`).split(" ").filter(Boolean));
  }
  return total;
}

/** What to run, and with what. */
export interface LimitedProcess extends Pick<ProcessCommand, "argv" | "cwd" | "env" | "endsAll"> {
  /** @default "" */
  readonly stdin?: string;
  /** What it can read from its file descriptor 3, where it may also write. @default no descriptor 3 */
  readonly channel?: string;
}

/** What it may use. */
export interface ProcessLimits {
  /** @default none */
  readonly timeoutMs?: number;
  /** Resident memory of it and all below it, in MiB; only Linux tells. @default none */
  readonly memoryMb?: number;
  /** Bytes of all its outputs together, which are then returned. @default none */
  readonly maxOutputBytes?: number;
  /** Gets the output of a program that runs for long, in place of the result. @default none */
  readonly onOutput?: (text: string) => void;
  /** How often memory is measured. @default 25 */
  readonly pollMs?: number;
  /** Time between SIGTERM and SIGKILL. @default 0: SIGKILL at once */
  readonly graceMs?: number;
  /** Kills it when it aborts. */
  readonly signal?: AbortSignal;
}

/** How it ended, and what it wrote. */
export interface ProcessEnd {
  /** `exit`: by itself; else the limit that ended it, or the signal of the caller. */
  readonly ended: "exit" | "timeout" | "memory" | "output" | "abort";
  /** null after a signal. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What it wrote to file descriptor 3. */
  readonly reply: string;
}

/** How long pipes may be silent after the end; a process that left the group can hold them open. */
const pipesMs = 500;

/** Rejects only when the program cannot be started. */
export function runLimited(command: LimitedProcess, limits: ProcessLimits): Promise<ProcessEnd> {
  const pipes = command.channel === undefined ? 3 : 4;
  const stdio = Array.from({ length: pipes }, () => "pipe" as const);
  return watch(startProcess({ ...command, stdio }), command, limits);
}

function watch(
  started: StartedProcess,
  { stdin = "", channel }: LimitedProcess,
  limits: ProcessLimits,
): Promise<ProcessEnd> {
  const { timeoutMs, memoryMb, maxOutputBytes = Infinity, pollMs = 25, graceMs = 0 } = limits;
  const { onOutput, signal } = limits;
  const { child } = started;
  return new Promise((resolve, reject) => {
    const { pid } = child;
    const timers: NodeJS.Timeout[] = [];
    let ended: ProcessEnd["ended"] = "exit";
    let hasExited = false;
    let bytes = 0;
    const kill = (reason: ProcessEnd["ended"]): void => {
      if (ended !== "exit" || hasExited) return;
      ended = reason;
      if (graceMs === 0) {
        started.kill();
        return;
      }
      started.terminate();
      timers.push(setTimeout(started.kill, graceMs));
    };
    const onAbort = (): void => kill("abort");
    if (timeoutMs !== undefined) timers.push(setTimeout(kill, timeoutMs, "timeout"));
    if (memoryMb !== undefined) {
      timers.push(
        setInterval(() => {
          if (pid !== undefined && usedMemory(pid) > memoryMb * 2 ** 20) kill("memory");
        }, pollMs),
      );
    }
    if (signal !== undefined) listenToAbort(signal, onAbort);
    const collect = (stream: NodeJS.ReadableStream | null | undefined): Buffer[] => {
      const chunks: Buffer[] = [];
      stream?.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxOutputBytes) kill("output");
        else if (onOutput !== undefined) onOutput(chunk.toString());
        else chunks.push(chunk);
      });
      // A pipe that breaks says no more than the end of the process.
      stream?.on("error", () => {});
      return chunks;
    };
    const extra = channel === undefined ? null : (child.stdio[3] as Duplex);
    const [stdout, stderr, reply] = [child.stdout, child.stderr, extra].map(collect);
    extra?.end(channel);
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
    const finish = (): void => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    child.once("error", (error) => {
      finish();
      reject(error);
    });
    // What it started may live on, and would keep the pipes open.
    child.once("exit", () => {
      hasExited = true;
      let seen = -1;
      timers.push(
        setInterval(() => {
          // Not before all that is in the pipes has been read, however late this timer is.
          if (seen !== bytes) seen = bytes;
          else for (const stream of child.stdio) stream?.destroy();
        }, pipesMs),
      );
    });
    child.once("close", (exitCode, endSignal) => {
      finish();
      const text = (chunks: Buffer[] | undefined): string => Buffer.concat(chunks ?? []).toString();
      resolve({
        ended,
        exitCode,
        signal: endSignal,
        stdout: text(stdout),
        stderr: text(stderr),
        reply: text(reply),
      });
    });
    if (signal?.aborted === true) onAbort();
  });
}
