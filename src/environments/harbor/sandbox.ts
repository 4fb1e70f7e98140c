/** Where a task of Harbor runs: what every kind of sandbox can do. */

/** A command and its limits. */
export interface SandboxCommand {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default the sandbox's own */
  readonly user?: string | number | null | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a command ended. */
export interface SandboxResult {
  /** Both outputs, in one text. */
  readonly output: string;
  /** null where a limit ended it. */
  readonly exitCode: number | null;
  readonly ended: "exit" | "timeout" | "output";
}

/** One machine for one episode. */
export interface Sandbox {
  /** Runs in the working folder of the task. */
  exec(command: SandboxCommand): Promise<SandboxResult>;
  /** Copies the files of a folder of this machine over an absolute path, or ".", the working folder. */
  copyIn(folder: string, path: string, signal: AbortSignal): Promise<void>;
  /** A text file; null where there is none. At most a mebibyte is read. */
  read(path: string, signal: AbortSignal): Promise<string | null>;
  /** Removes it with all that runs in it. */
  close(): Promise<void>;
}

/** Output of a command that is kept; more ends the command. */
export const maxOutputBytes: number = 2 ** 20;

/** Writes a regular file to standard output, as much of it as is read. `path` is plain, with nothing of a shell. */
export const readCommand = (path: string): string =>
  `[ -f ${path} ] && head -c ${maxOutputBytes - 1} ${path}`;

/** Folders that every task has. */
export const taskPaths = ["/logs/agent", "/logs/verifier", "/logs/artifacts", "/tests"] as const;
