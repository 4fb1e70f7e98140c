import { AgentTrainerError } from "../../core/errors.ts";

/** Why a request's form cannot be enforced: no schema, or too much work. */
export function notEnforced(cause: unknown): AgentTrainerError {
  return new AgentTrainerError({
    code: "REQUEST_INVALID",
    message: `A response format cannot be enforced: ${(cause as Error).message}`,
    hint: "Simplify the schema.",
    cause,
  });
}
