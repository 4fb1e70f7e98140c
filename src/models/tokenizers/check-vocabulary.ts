/** Whether a tokenizer produces only ids that the model has embeddings for. Reads values, not files. */
import { ModelError } from "../../core/errors.ts";

interface Token {
  readonly content: unknown;
  readonly id: unknown;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The tokens of a `tokenizer.json`; what cannot be read as such is ignored here. */
function* tokensOf(tokenizer: Readonly<Record<string, unknown>>): Generator<Token> {
  const { model, added_tokens: added } = tokenizer;
  const vocab = isRecord(model) ? model["vocab"] : undefined;
  if (Array.isArray(vocab)) {
    if (vocab.length > 0) yield { content: vocab.at(-1), id: vocab.length - 1 };
  } else if (isRecord(vocab)) {
    for (const [content, id] of Object.entries(vocab)) yield { content, id };
  }
  for (const token of Array.isArray(added) ? (added as unknown[]) : [])
    if (isRecord(token)) yield { content: token["content"], id: token["id"] };
}

/**
 * @param vocabSize rows of the embedding; nothing is checked where it is not known
 * @throws ModelError naming the token.
 */
export function checkVocabulary(
  tokenizer: Readonly<Record<string, unknown>>,
  vocabSize: unknown,
  source: string,
): void {
  if (typeof vocabSize !== "number") return;
  for (const { content, id } of tokensOf(tokenizer)) {
    if (Number.isInteger(id) && (id as number) >= 0 && (id as number) < vocabSize) continue;
    throw new ModelError({
      message: `${source}: the token ${JSON.stringify(content)} has the id ${JSON.stringify(id)}, but the model's ids are 0 to ${vocabSize - 1}.`,
      hint: "Tokenizer and weights do not belong together; use those of one model, or resize the model's embedding.",
      fields: { source, token: content, id, vocabSize },
    });
  }
}
