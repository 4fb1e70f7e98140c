/** `@langchain/openai`. */
import {
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import type { Response, Client } from "../client.ts";

function toResponse(message: AIMessage): Response {
  const { response_metadata: metadata } = message;
  const usage = message.usage_metadata as UsageMetadata | undefined;
  const finishes: Record<string, Response["finish"]> = {
    stop: "stop",
    length: "length",
    tool_calls: "tools",
  };
  const finish = finishes[String(metadata.finish_reason)];
  return {
    text: message.text,
    calls: (message.tool_calls ?? []).map(({ id = "", name, args }) => ({ id, name, args })),
    ...(finish === undefined ? {} : { finish }),
    ...(usage ? { usage: { input: usage.input_tokens, output: usage.output_tokens } } : {}),
  };
}

export const langchain: Client = {
  name: "langchain",
  protocol: "openai-chat",
  lacks: ["reasoning"],
  open({ baseUrl, apiKey }, settings) {
    const { system, stop, maxTokens, temperature, topP, tools, stream } = settings;
    const model = new ChatOpenAI({
      model: "scripted",
      apiKey,
      maxRetries: 0,
      configuration: { baseURL: baseUrl },
      ...(stop === undefined ? {} : { stop: [stop] }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
    });
    const bound = tools
      ? model.bindTools(
          tools.map(({ name, description, parameters }) => ({
            type: "function" as const,
            function: { name, description, parameters: { ...parameters } },
          })),
        )
      : model;
    const messages: BaseMessage[] = system === undefined ? [] : [new SystemMessage(system)];
    return {
      async send(input) {
        if (typeof input === "string") messages.push(new HumanMessage(input));
        else {
          for (const { call, output } of input) {
            messages.push(
              new ToolMessage({ content: output, tool_call_id: call.id, name: call.name }),
            );
          }
        }
        let response: AIMessageChunk | undefined;
        if (stream) {
          for await (const chunk of await bound.stream(messages)) {
            response = response === undefined ? chunk : response.concat(chunk);
          }
        } else response = await bound.invoke(messages);
        if (!response) throw new Error("The stream was empty.");
        messages.push(response);
        return toResponse(response);
      },
    };
  },
};
