/** The streams of a command. */
import type { TextStream } from "./terminal.ts";

export interface CliIo {
  /** Results. */
  readonly stdout: TextStream;
  /** Progress and errors. */
  readonly stderr: TextStream;
}
