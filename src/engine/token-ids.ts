/**
 * Token ids are looked up in a table inside the graph: one beyond it fails the whole run, and with it
 * everything else in the batch. So they are checked before they enter a batch.
 */
import { AgentTrainerError } from "../core/errors.ts";
import type { TrainingRow } from "../core/loss/training-row.ts";

/** The index of the first id that the model has no embedding for, or -1. */
function findStray(tokens: Int32Array, vocabSize: number): number {
  for (let i = 0; i < tokens.length; i++) {
    const id = tokens[i]!;
    if (!(id >= 0 && id < vocabSize)) return i;
  }
  return -1;
}

function stray(what: string, tokens: Int32Array, position: number, vocabSize: number): Error {
  const id = tokens[position]!;
  return new AgentTrainerError({
    code: "REQUEST_INVALID",
    message: `${what} has the token id ${id} at position ${position}, but the model's ids are 0 to ${vocabSize - 1}.`,
    hint: "Use ids of this model's own tokenizer.",
    fields: { param: "prompt", position, id, vocabSize },
  });
}

/** @throws AgentTrainerError REQUEST_INVALID */
export function checkPromptIds(tokens: Int32Array, vocabSize: number): void {
  const position = findStray(tokens, vocabSize);
  if (position >= 0) throw stray("The prompt", tokens, position, vocabSize);
}

/** @throws AgentTrainerError REQUEST_INVALID, naming the row. */
export function checkRowIds(rows: readonly TrainingRow[], vocabSize: number): void {
  for (const [index, { tokens, provenance }] of rows.entries()) {
    const position = findStray(tokens, vocabSize);
    if (position < 0) continue;
    const row = `Training row ${index} (task "${provenance.taskId}", episode "${provenance.episodeId}")`;
    throw stray(row, tokens, position, vocabSize);
  }
}
