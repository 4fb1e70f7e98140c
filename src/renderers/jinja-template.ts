/** A chat template as a function from messages to guarded text. Knows no ids. */
import { Template } from "@huggingface/jinja";
import { AgentTrainerError, ModelError } from "../core/errors.ts";
import type { ChatMessage, JsonValue, ToolDefinition } from "../core/message.ts";
import { createGuard, prepareGuard, type Guard } from "./jinja-guard.ts";
import { textOf } from "./message-text.ts";
import { splitReasoning, thinkEnd } from "./reasoning.ts";

export interface ChatTemplateOptions {
  readonly template: string;
  /** A template of its own for requests with tools, as some models have. */
  readonly toolTemplate?: string;
  /** Texts of the tokenizer's added tokens. */
  readonly controls: Iterable<string>;
  /** `bos_token`, `eos_token`, `enable_thinking`, dates: the same for every prompt. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface TemplateInput {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Open for the assistant's next answer. */
  readonly open: boolean;
}

/** Text in which everything that looks like a control token is one, and the mark that says so. */
export interface GuardedText {
  readonly text: string;
  readonly mark: string;
}

function readArguments(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function toTemplateMessage(message: ChatMessage, guard: Guard): Readonly<Record<string, unknown>> {
  const { role, toolCalls = [], toolCallId, name } = message;
  const text = textOf(message);
  const split =
    role === "assistant" && message.reasoning === undefined && text.includes(thinkEnd)
      ? splitReasoning(text)
      : { reasoning: message.reasoning, rest: text };
  const calls = toolCalls.map((call) => ({
    id: call.id,
    type: "function",
    function: {
      name: guard.value(call.name),
      arguments: guard.value(readArguments(call.arguments)),
    },
  }));
  return {
    role,
    content: guard.text(split.rest),
    ...(split.reasoning === undefined ? {} : { reasoning_content: guard.text(split.reasoning) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(toolCallId === undefined ? {} : { tool_call_id: guard.value(toolCallId) }),
    ...(name === undefined ? {} : { name: guard.value(name) }),
  };
}

function compile(template: string): Template {
  try {
    return new Template(template);
  } catch (cause) {
    throw new ModelError({ message: "The model's chat template cannot be read.", cause });
  }
}

/** @throws ModelError when the template is no Jinja. */
export function createChatTemplate(
  options: ChatTemplateOptions,
): (input: TemplateInput) => GuardedText {
  const plainTemplate = compile(options.template);
  const toolTemplate =
    options.toolTemplate === undefined ? plainTemplate : compile(options.toolTemplate);
  const guardTokens = prepareGuard(options.controls);
  return ({ messages, tools, open }) => {
    const inputs = JSON.stringify([messages, tools]) + options.template;
    const guard = createGuard(guardTokens, inputs);
    const context = {
      ...options.variables,
      messages: messages.map((message) => toTemplateMessage(message, guard)),
      add_generation_prompt: open,
      ...(tools.length === 0
        ? {}
        : {
            tools: tools.map((tool) =>
              guard.value({ type: "function", function: { ...tool } as JsonValue }),
            ),
          }),
    };
    try {
      const text = (tools.length > 0 ? toolTemplate : plainTemplate).render(context);
      return { text, mark: guard.mark };
    } catch (cause) {
      throw new AgentTrainerError({
        code: "REQUEST_INVALID",
        message: `The model's chat template refuses these messages: ${(cause as Error).message}`,
        cause,
      });
    }
  };
}
