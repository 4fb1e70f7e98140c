/** `openai`, responses: with the history sent along, with `previous_response_id`, and with `item_reference`. */
import OpenAI from "openai";
import type { Response, Client } from "../client.ts";

function toResponse(response: OpenAI.Responses.Response): Response {
  const { usage } = response;
  const calls = response.output.flatMap((item) =>
    item.type === "function_call"
      ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as unknown }]
      : [],
  );
  const reasoning = response.output.flatMap((item) =>
    item.type === "reasoning" ? (item.content ?? []).map((part) => part.text) : [],
  );
  return {
    text: response.output_text,
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join("") }),
    calls,
    finish: response.status === "incomplete" ? "length" : calls.length > 0 ? "tools" : "stop",
    ...(usage ? { usage: { input: usage.input_tokens, output: usage.output_tokens } } : {}),
  };
}

/** How earlier responses are sent again. */
type History = "items" | "previous" | "references";

/** The response, and its items as the client saw them: in the events of a stream. */
async function receive(
  client: OpenAI,
  body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
  isStream: boolean,
): Promise<{
  readonly response: OpenAI.Responses.Response;
  readonly items: readonly OpenAI.Responses.ResponseOutputItem[];
}> {
  if (!isStream) {
    const response = await client.responses.create(body);
    return { response, items: response.output };
  }
  const items: OpenAI.Responses.ResponseOutputItem[] = [];
  const { stream: _stream, ...rest } = body;
  const stream = client.responses.stream(rest);
  stream.on("response.output_item.done", ({ item }) => void items.push(item));
  return { response: await stream.finalResponse(), items };
}

const referTo = ({ id }: OpenAI.Responses.ResponseOutputItem): OpenAI.Responses.ResponseInputItem =>
  ({ type: "item_reference", id }) as OpenAI.Responses.ResponseInputItem;

function responsesClient(name: string, history: History): Client {
  return {
    name,
    protocol: "openai-responses",
    lacks: ["stop"],
    open({ baseUrl, apiKey }, settings) {
      const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
      const { system, maxTokens, temperature, topP, tools, stream } = settings;
      let input: OpenAI.Responses.ResponseInputItem[] = [];
      let previous: string | undefined;
      return {
        async send(said) {
          if (typeof said === "string") input.push({ role: "user", content: said });
          else {
            for (const { call, output } of said) {
              input.push({ type: "function_call_output", call_id: call.id, output });
            }
          }
          const body = {
            model: "scripted",
            input,
            store: history !== "items",
            ...(previous === undefined ? {} : { previous_response_id: previous }),
            ...(system === undefined ? {} : { instructions: system }),
            ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
            ...(temperature === undefined ? {} : { temperature }),
            ...(topP === undefined ? {} : { top_p: topP }),
            ...(tools
              ? {
                  tools: tools.map(({ parameters, ...tool }) => ({
                    type: "function" as const,
                    ...tool,
                    parameters: { ...parameters },
                    strict: false,
                  })),
                }
              : {}),
          };
          const { response, items } = await receive(client, body, stream);
          if (history === "previous") {
            previous = response.id;
            input = [];
          } else if (history === "references") input = [...input, ...items.map(referTo)];
          else input = [...input, ...(items as OpenAI.Responses.ResponseInputItem[])];
          return toResponse(response);
        },
      };
    },
  };
}

export const openAiResponses: Client = responsesClient("openai responses", "items");
export const openAiStoredResponses: Client = responsesClient("openai responses by id", "previous");
export const openAiReferredItems: Client = responsesClient(
  "openai responses by item",
  "references",
);
