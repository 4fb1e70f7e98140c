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

/** A form that cannot go on: the vocabulary lacks what it needs. */
export function noTokenLeft(): AgentTrainerError {
  return new AgentTrainerError({
    code: "NUMERICS",
    message:
      "A response format could not be followed: no token of this model's vocabulary continues the text.",
    hint: "Describe the format in the prompt, so that the model expects it.",
  });
}
