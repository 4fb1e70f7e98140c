/** `openai`, responses: with the history sent along, and with `previous_response_id`. */
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

function responsesClient(name: string, stored: boolean): Client {
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
            store: stored,
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
          const response = stream
            ? await client.responses.stream(body).finalResponse()
            : await client.responses.create(body);
          if (stored) {
            previous = response.id;
            input = [];
          } else input = [...input, ...(response.output as OpenAI.Responses.ResponseInputItem[])];
          return toResponse(response);
        },
      };
    },
  };
}

export const openAiResponses: Client = responsesClient("openai responses", false);
export const openAiStoredResponses: Client = responsesClient("openai responses by id", true);
