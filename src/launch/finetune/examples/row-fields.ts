/**
 * The fields of a row as they are meant, however they were stored: nulls are absent, and what Arrow's columns
 * cannot hold (messages, tools and calls of different forms) may be JSON text.
 */
import { parseTools } from "../../../gateway/routes/chat/request.ts";
import { show } from "../../../gateway/http/json-fields.ts";
import type { ToolDefinition } from "../../../core/message.ts";
import { isJsonObject, type JsonFields } from "../../../util/json-object.ts";
import { givenArguments, hasUnionFields, present, presentSchema } from "./given-values.ts";
import { RowError } from "./row-error.ts";

/** A list or an object that is stored as JSON text; other values as they are. */
function stored(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/u.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const mapObject = (value: unknown, change: (fields: JsonFields) => unknown): unknown => {
  const read = stored(value);
  return isJsonObject(read) ? change(present(read)) : value;
};

/** With the function's fields changed, where there is one. */
function withFunction(fields: JsonFields, change: (inner: JsonFields) => JsonFields): JsonFields {
  if (!("function" in fields)) return fields;
  return { ...fields, function: mapObject(fields["function"], change) };
}

const readTool = (tool: unknown): unknown =>
  mapObject(tool, (fields) =>
    withFunction(fields, (inner) =>
      "parameters" in inner
        ? { ...inner, parameters: presentSchema(stored(inner["parameters"])) }
        : inner,
    ),
  );

/** Results may be any JSON value; a list of parts is content. */
function readResult(content: unknown): unknown {
  const isParts =
    Array.isArray(content) &&
    content.length > 0 &&
    content.every((part) => isJsonObject(part) && typeof part["type"] === "string");
  if (content === undefined || typeof content === "string" || isParts) return content;
  return JSON.stringify(content);
}

const isMessages = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((each) => isJsonObject(each) && typeof each["role"] === "string");

/** The fields of a row, with messages and tools as OpenAI's API has them. */
export class RowFields {
  readonly at: string;
  readonly tools: readonly ToolDefinition[];
  readonly #fields: JsonFields;
  /** Of the arguments of a tool, by its name. */
  readonly #schemas: ReadonlyMap<unknown, unknown>;
  readonly #isUnion: boolean;

  /**
   * @param isColumnar whether objects have the fields of all rows, as in Parquet
   * @throws RowError | ApiError
   */
  constructor(value: unknown, at: string, isColumnar: boolean) {
    this.at = at;
    if (!isJsonObject(value))
      throw new RowError(at, `a row must be a JSON object, but it is ${show(value)}.`);
    const { input, ...own } = present(value);
    const inner = "preferred_output" in own ? stored(input) : null;
    // OpenAI's pairs have the prompt and its tools one level down.
    this.#fields = isJsonObject(inner) ? { ...own, ...present(inner) } : present(value);
    const tools = stored(this.#fields["tools"]);
    this.tools = parseTools({ tools: Array.isArray(tools) ? tools.map(readTool) : tools });
    this.#schemas = new Map(
      this.tools.map(({ name, parameters }) => [name, parameters ?? { properties: {} }]),
    );
    this.#isUnion =
      isColumnar ||
      Object.values(this.#fields).some((list) => Array.isArray(list) && hasUnionFields(list));
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }

  get names(): string {
    return Object.keys(this.#fields).join(", ") || "nothing";
  }

  /** A list of messages, or a text by `role`. @throws RowError */
  messages(name: string, role: string): readonly unknown[] {
    const value = this.#fields[name];
    const list = stored(value);
    if (Array.isArray(list) && (Array.isArray(value) || isMessages(list)))
      return list.map((message) => this.#readMessage(message));
    if (typeof value === "string") return [{ role, content: value }];
    throw new RowError(
      this.at,
      `${name} must be a list of messages or a text, but it is ${show(value)}.`,
    );
  }

  #readMessage(message: unknown): unknown {
    return mapObject(message, ({ thinking, ...fields }) => {
      const { role, content, tool_calls: given } = fields;
      if (role === "tool") return { ...fields, content: readResult(content) };
      const calls = stored(given);
      return {
        ...(typeof thinking === "string" ? { reasoning_content: thinking } : {}),
        ...fields,
        ...(Array.isArray(calls) ? { tool_calls: calls.map((call) => this.#readCall(call)) } : {}),
      };
    });
  }

  /** Arguments that are an object become its JSON text; none are an empty object. */
  #readCall(call: unknown): unknown {
    return mapObject(call, (fields) =>
      withFunction(fields, (inner) => {
        const { name, arguments: given = {} } = inner;
        if (!isJsonObject(given)) return inner;
        const values = givenArguments(given, this.#schemas.get(name), this.#isUnion);
        return { ...inner, arguments: JSON.stringify(values) };
      }),
    );
  }
}
