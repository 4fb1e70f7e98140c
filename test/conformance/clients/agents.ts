/** `@openai/agents`: its models over chat completions and over responses. */
import {
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  setTracingDisabled,
  withTrace,
  type AgentInputItem,
  type AgentOutputItem,
  type Model,
} from "@openai/agents";
import OpenAI from "openai";
import type { Protocol } from "../../../src/core/trace.ts";
import type { World } from "../case.ts";
import type { Response, Client, Settings } from "../client.ts";

setTracingDisabled(true);

type AgentsOpenAI = ConstructorParameters<typeof OpenAIResponsesModel>[0];
type Request = Parameters<Model["getResponse"]>[0];

interface Outcome {
  readonly output: readonly AgentOutputItem[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

async function respond(model: Model, request: Request, stream: boolean): Promise<Outcome> {
  if (!stream) return model.getResponse(request);
  let outcome: Outcome | undefined;
  for await (const event of model.getStreamedResponse(request)) {
    if (event.type === "response_done") outcome = event.response;
  }
  if (outcome) return outcome;
  throw new Error("The stream ended without a response.");
}

function toResponse({ output, usage }: Outcome): Response {
  const texts = output.flatMap((item) =>
    item.type === "message" && item.role === "assistant"
      ? item.content.map((part) => (part.type === "output_text" ? part.text : ""))
      : [],
  );
  return {
    text: texts.join(""),
    calls: output.flatMap((item) =>
      item.type === "function_call"
        ? [{ id: item.callId, name: item.name, args: JSON.parse(item.arguments) as unknown }]
        : [],
    ),
    usage: { input: usage.inputTokens, output: usage.outputTokens },
  };
}

function toRequest(input: AgentInputItem[], settings: Settings): Request {
  const { system, maxTokens, temperature, topP, tools = [] } = settings;
  return {
    input,
    ...(system === undefined ? {} : { systemInstructions: system }),
    modelSettings: {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
    },
    tools: tools.map((tool) => ({
      type: "function",
      ...tool,
      parameters: { ...tool.parameters, properties: { ...tool.parameters.properties } },
      strict: true,
    })),
    outputType: "text",
    handoffs: [],
    tracing: false,
  };
}

/** The model of an agent that calls this world. */
export function createAgentsModel(protocol: Protocol, { baseUrl, apiKey }: World): Model {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  // The same class; its types were made without exactOptionalPropertyTypes.
  const own = client as unknown as AgentsOpenAI;
  return protocol === "openai-chat"
    ? new OpenAIChatCompletionsModel(own, "scripted")
    : new OpenAIResponsesModel(own, "scripted");
}

function agentsClient(name: string, protocol: Protocol): Client {
  return {
    name,
    protocol,
    lacks: ["stop", "reasoning"],
    open(world, settings) {
      const model = createAgentsModel(protocol, world);
      const items: AgentInputItem[] = [];
      return {
        async send(input) {
          if (typeof input === "string") items.push({ role: "user", content: input });
          else {
            for (const { call, output } of input) {
              items.push({
                type: "function_call_result",
                callId: call.id,
                name: call.name,
                status: "completed",
                output,
              });
            }
          }
          const request = toRequest(items, settings);
          const outcome = await withTrace("conformance", () =>
            respond(model, request, settings.stream),
          );
          items.push(...outcome.output);
          return toResponse(outcome);
        },
      };
    },
  };
}

export const agentsChat: Client = agentsClient("openai agents chat", "openai-chat");
export const agentsResponses: Client = agentsClient("openai agents responses", "openai-responses");
