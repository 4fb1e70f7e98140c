/** Formats an error as one or two sentences with a remedy; includes the stack only with `--verbose`. */
import { AgentTrainerError } from "../../core/errors.ts";
import { fileError } from "../../core/file-error.ts";
import { type Colors, safeText } from "./terminal.ts";

/** Turns a failed import of a package into an error that names the install command; null for other errors. */
export function missingPackage(error: unknown): AgentTrainerError | null {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return null;
  const name = /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w-][\w.-]*)/u.exec(
    String(message),
  )?.[1];
  if (name === undefined) return null;
  return new AgentTrainerError({
    code: "ENGINE_NOT_INSTALLED",
    message: `The package ${name} is not installed.`,
    hint: `Run: npm install ${name}`,
    cause: error,
    fields: { package: name },
  });
}

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
