/** A chat template as a function from messages to a text that knows which of it the template wrote. */
import { AgentTrainerError, ModelError } from "../../../core/errors.ts";
import type { ChatMessage, ToolDefinition } from "../../../core/message.ts";
import { toolJson } from "../../../core/tool-json.ts";
import { writeExact } from "../../../util/exact-json.ts";
import { TemplateError } from "./language/errors.ts";
import { compileTemplate, type CompiledTemplate } from "./language/execute.ts";
import { globalsFor } from "./language/globals.ts";
import { limitsFor, TemplateLimitError } from "./language/limits.ts";
import { Str } from "./language/str.ts";
import { none, type Value } from "./language/values.ts";
import { findCallShape } from "./call-shape.ts";
import { messageValue, toolValue, type CallShape } from "./template-values.ts";

/** Values of variables: the same for every prompt. */
export type TemplateVariables = Readonly<Record<string, string | number | boolean>>;

export interface ChatTemplateOptions {
  readonly template: string;
  /** Where the template comes from, for messages. */
  readonly source: string;
  /** A separate template for requests with tools, as some models have. */
  readonly toolTemplate?: string;
  /** What `strftime_now` takes for today, as `%d %b %Y`. */
  readonly date: string;
  /** `bos_token`, `eos_token`, `date_string`. */
  readonly variables: TemplateVariables;
}

export interface TemplateInput {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Opens the assistant's next turn. */
  readonly open: boolean;
  /** In addition to those of all prompts. */
  readonly variables?: TemplateVariables | undefined;
}

/** Templates of published models have about ten thousand characters. */
const longestTemplate = 2 ** 20;

function compile(template: string, source: string, date: string): CompiledTemplate {
  const fields = { source };
  if (template.length > longestTemplate) {
    throw new ModelError({
      message: `${source}: the chat template has ${template.length} characters, but ${longestTemplate} is the limit.`,
      fields,
    });
  }
  try {
    return compileTemplate(template, globalsFor(date));
  } catch (cause) {
    throw new ModelError({
      message: `${source}: the model's chat template cannot be read: ${(cause as Error).message}`,
      cause,
      fields,
    });
  }
}

function variableValue(value: string | number | boolean): Value {
  if (typeof value === "string") return Str.own(value);
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}

function sizeOf(input: TemplateInput): number {
  const tools = input.tools.map((tool) => writeExact(toolJson(tool)).length);
  return tools.reduce((sum, size) => sum + size, JSON.stringify(input.messages).length);
}

/** @throws ModelError when the template is not valid Jinja. */
export function createChatTemplate(options: ChatTemplateOptions): (input: TemplateInput) => Str {
  const { source, date, variables } = options;
  const plainTemplate = prepare(compile(options.template, source, date));
  const toolTemplate =
    options.toolTemplate === undefined
      ? plainTemplate
      : prepare(compile(options.toolTemplate, source, date));

  function prepare(compiled: CompiledTemplate): (input: TemplateInput) => Str {
    // SmolLM3's takes tools under another name.
    const { names } = compiled;
    const toolsName = names.has("xml_tools") && !names.has("tools") ? "xml_tools" : "tools";
    const write = (input: TemplateInput, callShape: CallShape): Str => {
      const { messages, tools, open } = input;
      const values: Record<string, Value> = {
        documents: none,
        messages: messages.map((message) => messageValue(message, callShape)),
        [toolsName]: tools.length === 0 ? none : tools.map(toolValue),
        add_generation_prompt: open,
      };
      for (const [name, value] of Object.entries({ ...variables, ...input.variables })) {
        values[name] = variableValue(value);
      }
      const limits = limitsFor(sizeOf(input), messages.length);
      return compiled.render(Object.entries(values), limits);
    };
    let shape: CallShape | undefined;
    return (input) => {
      shape ??= findCallShape((messages, callShape) =>
        write({ messages, tools: [], open: false }, callShape),
      );
      return write(input, shape);
    };
  }

  return (input) => {
    try {
      return (input.tools.length > 0 ? toolTemplate : plainTemplate)(input);
    } catch (cause) {
      if (AgentTrainerError.isInstance(cause)) throw cause;
      const isLimit = cause instanceof TemplateLimitError;
      const kind =
        cause instanceof TemplateError && cause.kind !== "TemplateError" ? `${cause.kind}: ` : "";
      const reason = `${kind}${(cause as Error).message}`;
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
