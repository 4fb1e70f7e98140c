/** Formats an error as one or two sentences with a remedy; includes the stack only with `--verbose`. */
import { AgentTrainerError } from "../../core/errors.ts";
import { fileError } from "../../core/file-error.ts";
import { missingPackage } from "../../launch/missing-package.ts";
import { type Colors, safeText } from "./terminal.ts";

/** The text that a failed command prints on stderr. */
export function formatError(thrown: unknown, colors: Colors, isVerbose: boolean): string {
  const error = missingPackage(thrown) ?? fileError(thrown) ?? thrown;
  const message = error instanceof Error ? error.message : String(error);
  const lines = [`${colors.red("error:")} ${safeText(message)}`];
  if (AgentTrainerError.isInstance(error) && error.hint !== undefined) {
    lines.push(safeText(error.hint));
  }
  if (isVerbose && error instanceof Error) {
    lines.push("", safeText(error.stack ?? ""));
    for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
      lines.push(`caused by: ${safeText(cause.stack ?? cause.message)}`);
    }
  } else if (!AgentTrainerError.isInstance(error)) {
    lines.push("Run the command again with --verbose to see the stack trace.");
  }
  return `${lines.join("\n")}\n`;
}
