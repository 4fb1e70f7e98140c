/** A chat template as a function from messages to guarded text. */
import { Template } from "@huggingface/jinja";
import { AgentTrainerError, ModelError } from "../../../core/errors.ts";
import type { ChatMessage, JsonValue, ToolDefinition } from "../../../core/message.ts";
import { createGuard, prepareGuard, type Guard } from "./jinja-guard.ts";
import { limitsFor, limitTemplate, TemplateLimitError } from "./jinja-limits.ts";
import { pythonText } from "./python-text.ts";
import { messageText } from "../../../core/message-text.ts";
import { splitReasoning } from "../reasoning.ts";

export interface ChatTemplateOptions {
  readonly template: string;
  /** Where the template comes from, for messages. */
  readonly source: string;
  /** A separate template for requests with tools, as some models have. */
  readonly toolTemplate?: string;
  /** Texts of the tokenizer's added tokens. */
  readonly controls: Iterable<string>;
  /** `bos_token`, `eos_token`, `enable_thinking`, dates: the same for every prompt. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface TemplateInput {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Opens the assistant's next turn. */
  readonly open: boolean;
}

/** Text in which everything that looks like a control token is one, and the mark used for it. */
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

const roles: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);

/** A message whose calls' arguments have been parsed. */
interface ReadMessage {
  readonly message: ChatMessage;
  readonly readArguments: readonly JsonValue[];
}

function toTemplateMessage(
  { message, readArguments: read }: ReadMessage,
  guard: Guard,
): Readonly<Record<string, unknown>> {
  const { role, toolCalls = [], toolCallId, name } = message;
  const text = messageText(message.content, { image: "refuse" });
  const split =
    role === "assistant" && message.reasoning === undefined
      ? splitReasoning(text)
      : { reasoning: message.reasoning, rest: text };
  const calls = toolCalls.map((call, i) => ({
    id: guard.value(call.id),
    type: "function",
    function: { name: guard.value(call.name), arguments: guard.value(read[i]!) },
  }));
  return {
    // Templates compare the fields that exist.
    role: roles.has(role) ? role : guard.value(role),
    content: guard.text(split.rest),
    ...(split.reasoning === undefined ? {} : { reasoning_content: guard.text(split.reasoning) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(toolCallId === undefined ? {} : { tool_call_id: guard.value(toolCallId) }),
    ...(name === undefined ? {} : { name: guard.value(name) }),
  };
}

/** Templates of published models have about ten thousand characters. */
const longestTemplate = 2 ** 20;

function compile(template: string, source: string): ReturnType<typeof limitTemplate> {
  const fields = { source };
  if (template.length > longestTemplate) {
    throw new ModelError({
      message: `${source}: the chat template has ${template.length} characters, but ${longestTemplate} is the limit.`,
      fields,
    });
  }
  try {
    return limitTemplate(new Template(template));
  } catch (cause) {
    throw new ModelError({
      message: `${source}: the model's chat template cannot be read: ${(cause as Error).message}`,
      cause,
      fields,
    });
  }
}

/** @throws ModelError when the template is not valid Jinja. */
export function createChatTemplate(
  options: ChatTemplateOptions,
): (input: TemplateInput) => GuardedText {
  const { source } = options;
  const plainTemplate = compile(options.template, source);
  const toolTemplate =
    options.toolTemplate === undefined ? plainTemplate : compile(options.toolTemplate, source);
  const guardTokens = prepareGuard(options.controls);
  // SmolLM3's: written as text, which the library cannot do with an object.
  const takesTexts = options.template.includes("xml_tools");
  const toolVariables = (tools: readonly ToolDefinition[], guard: Guard): object => {
    if (tools.length === 0) return {};
    const described = tools.map((tool) =>
      guard.value({ type: "function", function: { ...tool } as JsonValue }),
    );
    return takesTexts ? { xml_tools: described.map(pythonText) } : { tools: described };
  };
  return ({ messages, tools, open }) => {
    const read = messages.map((message) => ({
      message,
      readArguments: (message.toolCalls ?? []).map((call) => readArguments(call.arguments)),
    }));
    const inputs = stringify([read, tools]);
    const guard = createGuard(guardTokens, [inputs, options.template, options.toolTemplate ?? ""]);
    const context = {
      ...options.variables,
      messages: read.map((message) => toTemplateMessage(message, guard)),
      add_generation_prompt: open,
      ...toolVariables(tools, guard),
    };
    const limits = limitsFor(inputs.length, messages.length);
    try {
      const text = (tools.length > 0 ? toolTemplate : plainTemplate)(context, limits);
      return { text, mark: guard.mark };
    } catch (cause) {
      const isLimit = cause instanceof TemplateLimitError;
      const reason = (cause as Error).message;
      throw new AgentTrainerError({
        code: "REQUEST_INVALID",
        message: isLimit
          ? `The chat template of ${source} was stopped at these messages: ${reason}.`
          : `The model's chat template refuses these messages: ${reason}`,
        cause,
        fields: { source },
      });
    }
  };
}

/** Whether an error comes from the template exceeding its limits, not from the messages. */
export function isLimitError(error: unknown): error is AgentTrainerError {
  return AgentTrainerError.isInstance(error) && error.cause instanceof TemplateLimitError;
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: "A tool or the arguments of a tool call are nested too deep.",
      cause,
    });
  }
}
