/** A sequence whose probabilities are NaN: it is dropped, and nothing of it stays in a cache. */
import { AgentTrainerError } from "../../core/errors.ts";

/** @param where in the sequence */
export function notNumbers(where: string): AgentTrainerError {
  return new AgentTrainerError({
    code: "NUMERICS",
    message: `The model's probabilities are no numbers ${where}, so this sequence was given up.`,
    hint: "Look at the weights: a training step may have diverged. Lower the learning rate and resume from an earlier checkpoint.",
    fields: { where },
  });
}
