/**
 * Rows of a file to conversations: OpenAI's chat messages with tools, and pairs of them in the formats of
 * OpenAI (`input`, `preferred_output`, `non_preferred_output`) and of TRL (`prompt`, `chosen`, `rejected`).
 */
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import { show } from "../../../gateway/http/json-fields.ts";
import { isJsonObject } from "../../../util/json-object.ts";
import { parseMessages } from "../../../gateway/routes/chat/messages.ts";
import { pairCalls } from "./check-messages.ts";
import { inRow, RowError } from "./row-error.ts";
import { RowFields } from "./row-fields.ts";
import { commonMessages, joinPrompt, type Joined } from "./shared-prompt.ts";

/** A conversation, and which of its messages are trained on. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** [message] whether it is trained on. */
  readonly trained: readonly boolean[];
}

/** Two ways in which a conversation goes on. */
export interface Preference {
  readonly chosen: Conversation;
  readonly rejected: Conversation;
}

const textOnly = { images: false };

/** OpenAI's `weight` of an assistant message: 0 is context. */
function isWeighted(message: unknown, at: string): boolean {
  const weight = isJsonObject(message) ? (message["weight"] ?? 1) : 1;
  if (weight === 0 || weight === 1) return weight === 1;
  throw new RowError(at, `weight must be 0 or 1, but it is ${show(weight)}.`);
}

function readConversation(
  { list, from }: Pick<Joined, "list" | "from">,
  { tools, at }: RowFields,
  trainOn: "all" | "last",
): Conversation {
  const messages = parseMessages({ messages: pairCalls(list, at) }, textOnly);
  const weights = list.map((message) => isWeighted(message, at));
  const isMerged = messages.length !== list.length;
  if (isMerged && (weights.includes(false) || from > 0)) {
    throw new RowError(
      at,
      "what an assistant says and calls in one turn must be one message where weight or prompt is used.",
    );
  }
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const trained = messages.map(
    ({ role }, i) =>
      role === "assistant" &&
      i >= from &&
      (trainOn === "all" || i === last) &&
      (isMerged || weights[i] === true),
  );
  if (!trained.includes(true)) throw new RowError(at, "there is no assistant message to train on.");
  return { messages, tools, trained };
}

/** `{messages, tools}`, or `{prompt, completion, tools}`, of which only the completion is trained on. */
export function parseConversation(
  row: unknown,
  at: string,
  trainOn: "all" | "last" = "all",
  isColumnar: boolean = false,
): Conversation {
  return inRow(at, () => {
    const fields = new RowFields(row, at, isColumnar);
    if (fields.has("messages"))
      return readConversation(
        { list: fields.messages("messages", "user"), from: 0 },
        fields,
        trainOn,
      );
    if (!fields.has("prompt") || !fields.has("completion")) {
      throw new RowError(
        at,
        `a row needs messages, or prompt and completion, but it has ${fields.names}.`,
      );
    }
    const prompt = fields.messages("prompt", "user");
    const completion = fields.messages("completion", "assistant");
    return readConversation(joinPrompt(prompt, completion, "completion", at), fields, trainOn);
  });
}

/** A pair in OpenAI's or TRL's format; without a prompt, what both conversations begin with is the prompt. */
export function parsePreference(row: unknown, at: string, isColumnar: boolean = false): Preference {
  return inRow(at, () => {
    const fields = new RowFields(row, at, isColumnar);
    const [chosenName, rejectedName, promptName] = fields.has("preferred_output")
      ? (["preferred_output", "non_preferred_output", "messages"] as const)
      : (["chosen", "rejected", "prompt"] as const);
    if (!fields.has(chosenName) || !fields.has(rejectedName)) {
      throw new RowError(
        at,
        `a pair needs prompt, chosen and rejected, or input, preferred_output and non_preferred_output, but it has ${fields.names}.`,
      );
    }
    const hasPrompt = fields.has(promptName);
    const prompt = hasPrompt ? fields.messages(promptName, "user") : [];
    const [chosen, rejected] = [chosenName, rejectedName].map((name) =>
      joinPrompt(prompt, fields.messages(name, "assistant"), name, at),
    ) as [Joined, Joined];
    const common = commonMessages(chosen.list, rejected.list);
    const shortest = Math.min(chosen.list.length, rejected.list.length);
    // A prompt that both responses repeat is what they have in common, as in TRL.
    const isImplicit = !hasPrompt || (chosen.repeats && rejected.repeats);
    const [from, other] = isImplicit ? [common, common] : [chosen.from, rejected.from];
    if (from === 0) throw new RowError(at, "a pair needs a prompt that both responses follow.");
    if (isImplicit && common === shortest)
      throw new RowError(at, "chosen and rejected must differ in their last messages.");
    if (common === shortest && chosen.list.length === rejected.list.length)
      throw new RowError(at, `${chosenName} and ${rejectedName} are the same.`);
    return {
      chosen: readConversation({ list: chosen.list, from }, fields, "all"),
      rejected: readConversation({ list: rejected.list, from: other }, fields, "all"),
    };
  });
}
