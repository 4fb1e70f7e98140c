/** A model that is talked to as it is: its conversation, over the API that `serve` offers. */
import { AgentTrainerError } from "../../core/errors.ts";
import { readEvents } from "../../http/events.ts";
import type { ModelServer } from "../../launch/serve/model-server.ts";
import { defined } from "../../util/defined.ts";
import type { ChatOptions, Speaker } from "./speaker.ts";

interface Message {
  readonly role: "assistant" | "system" | "user";
  readonly content: string;
}

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly function?: { name?: string; arguments?: string } }[];
}

interface ChatEvent {
  readonly choices?: readonly { readonly delta?: Delta }[];
  readonly error?: { readonly message?: string };
}

/** Of one response: far more than a conversation needs. */
const maxResponseBytes = 2 ** 28;

/** What a person reads of a delta: its text, or the tool that is called. */
function textOf({ content, tool_calls: calls = [] }: Delta): string {
  const called = calls.map(({ function: tool }) => `${tool?.name ?? ""}${tool?.arguments ?? ""}`);
  return (content ?? "") + called.join("");
}

/** The deltas of a stream of chat completions. @throws AgentTrainerError for a failure in it */
async function* deltas(response: Response): AsyncGenerator<string> {
  if (!response.ok || response.body === null) {
    const { error } = (await response.json()) as { readonly error?: { readonly message?: string } };
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: error?.message ?? `The model responded with ${response.status}.`,
    });
  }
  for await (const { data } of readEvents(response, { maxBytes: maxResponseBytes })) {
    if (!data.startsWith("{")) continue;
    const { choices, error } = JSON.parse(data) as ChatEvent;
    if (error !== undefined) {
      throw new AgentTrainerError({ code: "INTERNAL", message: error.message ?? "" });
    }
    yield textOf(choices?.[0]?.delta ?? {});
  }
}

/** Disposing of it closes the server. */
export function modelSpeaker(
  server: ModelServer,
  { system, temperature, maxTokens }: ChatOptions,
): Speaker {
  const start: Message[] = system === undefined ? [] : [{ role: "system", content: system }];
  let messages = start;
  const [model = "model"] = server.models;
  return {
    name: model,
    async *respond(request, signal) {
      const sent: Message[] = [...messages, { role: "user", content: request }];
      const body = JSON.stringify({
        model,
        messages: sent,
        stream: true,
        ...defined({ temperature, max_tokens: maxTokens }),
      });
      const url = "http://127.0.0.1/v1/chat/completions";
      let text = "";
      const keep = (): void => {
        messages = [...sent, { role: "assistant", content: text }];
      };
      try {
        const response = await server.fetch(new Request(url, { method: "POST", body, signal }));
        for await (const part of deltas(response)) {
          text += part;
          yield part;
        }
      } catch (error) {
        // What was stopped was said until then; what failed is no part of the conversation.
        if (signal.aborted) keep();
        throw error;
      }
      keep();
    },
    reset: () => void (messages = start),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
