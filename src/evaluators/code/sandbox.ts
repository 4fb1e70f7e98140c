/**
 * Runs a program that is not trusted in a child process: with limits of the shell, a process group that
 * is killed as a whole, and, on Linux where the kernel permits it, without network and in a process
 * namespace. It does not hide the file system: see docs/evaluators.md.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { usedMemory } from "./process-memory.ts";

/** What a program may use. */
export interface SandboxLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly maxFileMb: number;
  readonly maxOutputBytes: number;
}

/** A program to run. */
export interface SandboxCommand {
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly stdin: string;
  /** What the child can read from its file descriptor 3, where it may also write. */
  readonly secret: string;
  /** Whether the address space is limited, too; a JavaScript engine reserves more than it uses. */
  readonly limitAddressSpace: boolean;
}

/** How a program ended, and what it wrote. */
export interface SandboxResult {
  readonly ended: "exit" | "timeout" | "memory" | "output";
  /** null after a signal. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What it wrote to file descriptor 3. */
  readonly reply: string;
}

const pollMs = 25;
const namespaces = "unshare --user --map-root-user --net --pid --fork --kill-child".split(" ");

let isolation: Promise<boolean> | null = null;

/** Whether programs run without network and in a process namespace here. */
export function canIsolate(): Promise<boolean> {
  isolation ??= new Promise((resolve) => {
    if (process.platform !== "linux") {
      resolve(false);
      return;
    }
    const child = spawn(namespaces[0]!, [...namespaces.slice(1), "true"], { stdio: "ignore" });
    child.once("error", () => {
      resolve(false);
    });
    child.once("exit", (code) => {
      resolve(code === 0);
    });
  });
  return isolation;
}

/** Limits that the shell sets; one that the system does not have is omitted. */
function limitScript({ timeoutMs, memoryMb, maxFileMb }: SandboxLimits, address: boolean): string {
  const limits = [
    `-t ${Math.ceil(timeoutMs / 1000) + 1}`,
    `-f ${maxFileMb * 2048}`,
    "-c 0",
    "-n 256",
    ...(address ? [`-v ${memoryMb * 1024}`] : []),
  ];
  return `${limits.map((one) => `ulimit ${one} 2>/dev/null`).join("; ")}; exec "$@"`;
}

const running = new Set<number>();
const killAll = (): void => {
  for (const pid of running) killGroup(pid);
};

function killGroup(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/** Rejects only when the program cannot be started. */
export async function runSandboxed(
  command: SandboxCommand,
  limits: SandboxLimits,
): Promise<SandboxResult> {
  const isolated = (await canIsolate()) ? namespaces : [];
  const inner = [...isolated, command.executable, ...command.args];
  const full =
    process.platform === "win32"
      ? inner
      : ["sh", "-c", limitScript(limits, command.limitAddressSpace), "sh", ...inner];
  const child = spawn(full[0]!, full.slice(1), {
    cwd: command.cwd,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: command.cwd,
      TMPDIR: command.cwd,
      LANG: "C.UTF-8",
    },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  return watch(child, command, limits);
}

function watch(
  child: ChildProcess,
  { stdin, secret }: SandboxCommand,
  { timeoutMs, memoryMb, maxOutputBytes }: SandboxLimits,
): Promise<SandboxResult> {
  return new Promise((resolve, reject) => {
    const { pid } = child;
    if (running.size === 0) process.once("exit", killAll);
    if (pid !== undefined) running.add(pid);
    let ended: SandboxResult["ended"] = "exit";
    let bytes = 0;
    const kill = (reason: SandboxResult["ended"]): void => {
      if (ended === "exit") ended = reason;
      if (pid !== undefined) killGroup(pid);
    };
    const deadline = setTimeout(kill, timeoutMs, "timeout");
    const poll = setInterval(() => {
      if (pid !== undefined && usedMemory(pid) > memoryMb * 2 ** 20) kill("memory");
    }, pollMs);
    const collect = (stream: NodeJS.ReadableStream | null): Buffer[] => {
      const chunks: Buffer[] = [];
      stream?.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxOutputBytes) kill("output");
        else chunks.push(chunk);
      });
      // A pipe that breaks says no more than the end of the process.
      stream?.on("error", () => {});
      return chunks;
    };
    const channel = child.stdio[3] as Duplex;
    const [stdout, stderr, reply] = [child.stdout, child.stderr, channel].map(collect);
    channel.end(secret);
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
    const finish = (): void => {
      clearTimeout(deadline);
      clearInterval(poll);
      if (pid !== undefined) running.delete(pid);
      if (running.size === 0) process.off("exit", killAll);
    };
    child.once("error", (error) => {
      finish();
      reject(error);
    });
    // What it started may live on, and would keep the pipes open.
    child.once("exit", () => {
      if (pid !== undefined) killGroup(pid);
    });
    child.once("close", (exitCode) => {
      finish();
      const text = (chunks: Buffer[] | undefined): string => Buffer.concat(chunks ?? []).toString();
      resolve({ ended, exitCode, stdout: text(stdout), stderr: text(stderr), reply: text(reply) });
    });
  });
}
