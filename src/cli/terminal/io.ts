/** The streams of a command, and how its result is written. */
import type { TextStream } from "./terminal.ts";

export interface CliIo {
  /** Results. */
  readonly stdout: TextStream;
  /** Progress and errors. */
  readonly stderr: TextStream;
}

/** One line of JSON with `--json`, else the text. */
export function writeResult(
  { stdout }: CliIo,
  isJson: boolean | undefined,
  value: unknown,
  text: string,
): void {
  stdout.write(isJson === true ? `${JSON.stringify(value)}\n` : text);
}
