/** A package that is optional, needed, and not installed. */
import { AgentTrainerError } from "../core/errors.ts";

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
