/**
 * Runs a program that is not trusted in a child process: with limits of the shell, a process group that
 * is killed as a whole, and, on Linux where the kernel permits it, without network and in a process
 * namespace. It does not hide the file system: see docs/ready-evaluators.md.
 */
import { type ProcessEnd, runLimited } from "../../util/process/limited-process.ts";

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
  /** What the child can read from its file descriptor 3, where it may also write. @default no descriptor 3 */
  readonly channel?: string;
  /** Whether the address space is limited, too; a JavaScript engine reserves more than it uses. */
  readonly limitAddressSpace: boolean;
}

/** How a program ended, and what it wrote. */
export type SandboxResult = ProcessEnd;

const namespaces = "unshare --user --map-root-user --net --pid --fork --kill-child".split(" ");

const tryMs = 10_000;

let isolation: Promise<boolean> | null = null;

/** Whether programs run without network and in a process namespace here. */
export function canIsolate(): Promise<boolean> {
  isolation ??= tryNamespaces();
  return isolation;
}

async function tryNamespaces(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const command = { argv: [...namespaces, "true"], cwd: "/", env: process.env };
  return await runLimited(command, { timeoutMs: tryMs }).then(
    ({ exitCode }) => exitCode === 0,
    () => false,
  );
}

/**
 * Limits that the shell sets; one that the system does not have is omitted. What Node starts has a socket as its
 * standard input, which a program cannot open as /dev/stdin; `cat` makes a pipe of it.
 */
function limitScript({ timeoutMs, memoryMb, maxFileMb }: SandboxLimits, address: boolean): string {
  const limits = [
    `-t ${Math.ceil(timeoutMs / 1000) + 1}`,
    `-f ${maxFileMb * 2048}`,
    "-c 0",
    "-n 256",
    ...(address ? [`-v ${memoryMb * 1024}`] : []),
  ];
  return `${limits.map((one) => `ulimit ${one} 2>/dev/null`).join("; ")}; cat | "$@"`;
}

/** Rejects only when the program cannot be started. */
export async function runSandboxed(
  command: SandboxCommand,
  limits: SandboxLimits,
): Promise<SandboxResult> {
  const isolated = (await canIsolate()) ? namespaces : [];
  const inner = [...isolated, command.executable, ...command.args];
  const script = limitScript(limits, command.limitAddressSpace);
  const { timeoutMs, memoryMb, maxOutputBytes } = limits;
  return await runLimited(
    {
      argv: process.platform === "win32" ? inner : ["sh", "-c", script, "sh", ...inner],
      cwd: command.cwd,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: command.cwd,
        TMPDIR: command.cwd,
        LANG: "C.UTF-8",
      },
      stdin: command.stdin,
      ...(command.channel === undefined ? {} : { channel: command.channel }),
      // A process namespace ends with its first process; elsewhere, one may leave its group.
      endsAll: isolated.length === 0,
    },
    { timeoutMs, memoryMb, maxOutputBytes },
  );
}
