/** Exit status of the process. */
import { AgentTrainerError } from "../../core/errors.ts";

export const exitCodes = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Exit status for an error that ended a command. */
export function exitCodeOf(error: unknown): number {
  if (!AgentTrainerError.isInstance(error)) return exitCodes.failed;
  switch (error.code) {
    case "CONFIG_INVALID":
    case "OPTION_UNSUPPORTED":
      return exitCodes.usage;
    case "ABORTED":
      return exitCodes.interrupted;
    default:
      return exitCodes.failed;
  }
}
