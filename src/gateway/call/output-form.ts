/**
 * The form that a request wants its response to have, as a grammar for samplers that enforce it, and as a check
 * of what was sampled for all others.
 */
import { z } from "zod";
import type { Grammar, LogitRules } from "../../core/grammar.ts";
import type { ChatMessage, JsonValue, ToolDefinition } from "../../core/message.ts";
import type { CompletionForm, Renderer } from "../../core/policy.ts";
import { compileGrammar, type CompiledGrammar } from "../../grammar/compile-grammar.ts";
import { badRequest } from "../http/api-error.ts";
import { isJsonObject } from "../http/json-fields.ts";
import { textOf } from "../session/message-text.ts";
import type { CallRequest } from "./call-request.ts";

/** A response of this form is asked for; null for any. */
export interface OutputForm {
  /** Of the text; undefined for any. */
  readonly content: Grammar | undefined;
  /** Tools that it may call. */
  readonly tools: readonly ToolDefinition[];
  readonly mustCall: boolean;
  readonly singleCall: boolean;
}

/** Compiled here to check schemas and responses; the thread that samples compiles its own. */
const compiled = new Map<string, CompiledGrammar>();
const maxCompiled = 64;

function compile(grammar: Grammar): CompiledGrammar {
  const key = JSON.stringify(grammar);
  const known = compiled.get(key) ?? compileGrammar(grammar);
  compiled.delete(key);
  compiled.set(key, known);
  if (compiled.size > maxCompiled) compiled.delete(compiled.keys().next().value as string);
  return known;
}

function contentGrammar(format: JsonValue | undefined): Grammar | undefined {
  if (!isJsonObject(format)) return undefined;
  if (format.type === "json_object") return { type: "json", schema: { type: "object" } };
  const { json_schema: holder } = format;
  if (!isJsonObject(holder)) return undefined;
  return { type: "json", schema: (holder.schema ?? { type: "object" }) as JsonValue };
}

function namedTool(choice: JsonValue | undefined): string | undefined {
  if (!isJsonObject(choice) || !isJsonObject(choice.function)) return undefined;
  return typeof choice.function.name === "string" ? choice.function.name : undefined;
}

/** @throws ApiError 400 for a schema that is none, or a tool that is not offered. */
export function readOutputForm(request: CallRequest): OutputForm | null {
  const { response_format: format, tool_choice: choice } = request.serverFields ?? {};
  const name = namedTool(choice);
  const tools =
    name === undefined ? request.tools : request.tools.filter((tool) => tool.name === name);
  const mustCall = choice === "required" || name !== undefined;
  if (mustCall && tools.length === 0) {
    throw badRequest(
      "tool_choice",
      `tool_choice requires a call of ${name ?? "a tool"}, but tools does not have ${name === undefined ? "any" : "it"}.`,
    );
  }
  const content = contentGrammar(format);
  const hasStrict = (request.strictTools ?? []).length > 0;
  if (content === undefined && !mustCall && !hasStrict && request.singleCall !== true) return null;
  if (content !== undefined) requireSchema(content);
  return { content, tools, mustCall, singleCall: request.singleCall === true };
}

function requireSchema(grammar: Grammar): void {
  try {
    compile(grammar);
  } catch (error) {
    throw badRequest(
      "response_format",
      `The schema of response_format cannot be read: ${(error as Error).message}`,
    );
  }
}

/**
 * What a request asks of its response's form that sampling does not enforce, each with the field and the place
 * in its schema; empty where all of it is enforced, or nothing was asked.
 * @param isApplied whether the sampler applies `SamplingParams.rules`
 * @throws ApiError 400 as `readOutputForm`.
 */
export function unenforcedOf(
  request: CallRequest,
  renderer: Renderer,
  isApplied: boolean,
): readonly string[] {
  const form = readOutputForm(request);
  if (form === null) return [];
  const { content, mustCall, singleCall } = form;
  const strict = (request.strictTools ?? []).length > 0;
  const asked = [
    ...(content === undefined ? [] : ["response_format"]),
    ...(mustCall ? ["tool_choice"] : []),
    ...(singleCall ? ["parallel_tool_calls"] : []),
    ...(strict ? ["strict tools"] : []),
  ];
  if (!isApplied || request.rawPrompt !== undefined)
    return asked.map((field) => `${field}: responses are sampled freely`);
  // A single call of no tools is nothing to enforce.
  if (formGrammar(request, form, renderer) === null)
    return request.tools.length === 0 && content === undefined
      ? []
      : asked.map((field) => `${field}: how this model writes it is not known`);
  const found = [
    ...(content === undefined
      ? []
      : compile(content).unenforced.map((what) => `response_format ${what}`)),
    ...strictTools(request, form.tools).flatMap(({ name, unenforced }) =>
      unenforced.map((what) => `tool ${name} ${what}`),
    ),
  ];
  return [...new Set(found)];
}

interface StrictTool {
  readonly name: string;
  readonly unenforced: readonly string[];
  /** Whether its schema can be enforced at all. */
  readonly isReadable: boolean;
}

function strictTools(
  { strictTools: wanted = [] }: CallRequest,
  tools: readonly ToolDefinition[],
): readonly StrictTool[] {
  return tools
    .filter(({ name }) => wanted.includes(name))
    .map(({ name, parameters }) => {
      if (parameters === undefined) return { name, unenforced: [], isReadable: false };
      try {
        const { unenforced } = compile({ type: "json", schema: parameters });
        return { name, unenforced, isReadable: true };
      } catch (error) {
        return { name, unenforced: [`#: ${(error as Error).message}`], isReadable: false };
      }
    });
}

/** The rules of a call; undefined where there are none, or the renderer has no grammar for its form. */
export function logitRules(
  request: CallRequest,
  form: OutputForm | null,
  renderer: Renderer,
): LogitRules | undefined {
  const grammar =
    form === null || request.rawPrompt !== undefined ? null : formGrammar(request, form, renderer);
  if (grammar === null) return request.logits;
  return { ...request.logits, grammar };
}

function formGrammar(request: CallRequest, form: OutputForm, renderer: Renderer): Grammar | null {
  const { content, tools, mustCall } = form;
  const strict = strictTools(request, tools).flatMap(({ name, isReadable }) =>
    isReadable ? [name] : [],
  );
  const isOpen = content === undefined && !mustCall;
  if (isOpen && strict.length === 0 && (request.singleCall !== true || tools.length === 0))
    return null;
  const wanted: CompletionForm = {
    ...(content === undefined ? {} : { content }),
    tools,
    strict,
    minCalls: mustCall ? 1 : 0,
    maxCalls: request.singleCall === true ? 1 : null,
  };
  return renderer.grammar?.(wanted) ?? null;
}

function accepts(grammar: Grammar, text: string): boolean {
  const { configurations } = compile(grammar);
  let at: ReturnType<typeof configurations.step> = configurations.start;
  for (const byte of Buffer.from(text, "utf8")) {
    at = at && configurations.step(at, byte);
    if (at === null) return false;
  }
  return at.accepts;
}

/** Why a response does not have the form; undefined where it has. */
export function unmetOf(form: OutputForm | null, message: ChatMessage): string | undefined {
  if (form === null) return undefined;
  const calls = message.toolCalls ?? [];
  if (form.singleCall && calls.length > 1) return "parallel_tool_calls: several tools were called";
  if (form.mustCall) {
    const isOffered = calls.every(({ name }) => form.tools.some((tool) => tool.name === name));
    if (calls.length > 0 && isOffered) return undefined;
    return calls.length === 0
      ? "tool_choice: no tool was called"
      : "tool_choice: another tool was called";
  }
  if (form.content === undefined || calls.length > 0) return undefined;
  return isValid(form.content, textOf(message.content))
    ? undefined
    : "response_format: the text is not JSON that is valid under the schema";
}

/** White space and the spelling of strings do not matter, nor does the order of properties. */
function isValid(grammar: Grammar, text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (accepts(grammar, JSON.stringify(value))) return true;
  // The grammar has one order. Patterns are left out here: they would meet a model's text in an engine
  // that may take forever.
  return grammar.type === "json" && fitsInAnyOrder(grammar.schema, value);
}

const checks = new WeakMap<object, z.ZodType | null>();

function fitsInAnyOrder(schema: JsonValue, value: unknown): boolean {
  if (!isJsonObject(schema)) return schema === true;
  let check = checks.get(schema);
  if (check === undefined) {
    try {
      const text = JSON.stringify(schema, (key, part: unknown) =>
        (key === "pattern" || key === "format") && typeof part === "string" ? undefined : part,
      );
      check = z.fromJSONSchema(JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0]);
    } catch {
      check = null;
    }
    checks.set(schema, check);
  }
  return check?.safeParse(value).success ?? false;
}
