/**
 * The form that a request wants its response to have, as a grammar for samplers that enforce it, and why a
 * response does not have it.
 */
import type { Grammar, LogitRules } from "../../core/grammar.ts";
import type { ChatMessage, JsonValue, ToolDefinition } from "../../core/message.ts";
import type { CompletionForm, Renderer } from "../../core/policy.ts";
import { schemaOutcome } from "../../grammar/thread/compiled-schemas.ts";
import type { SchemaOutcome } from "../../grammar/thread/schema-outcome.ts";
import { GrammarLimitError } from "../../grammar/work-budget.ts";
import { ApiError, badRequest } from "../http/api-error.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { messageText } from "../../core/message-text.ts";
import { callableTools, type CallRequest } from "./call-request.ts";
import { schemaProblem } from "./schema-problem.ts";

/** A response of this form is asked for; null for any. */
export interface OutputForm {
  /** Of the text; undefined for any. */
  readonly content: JsonGrammar | undefined;
  /** Tools that it may call. */
  readonly tools: readonly ToolDefinition[];
  readonly mustCall: boolean;
  /** Only `tools` may be called; others were offered, too. */
  readonly isRestricted: boolean;
  readonly singleCall: boolean;
  /** Those of `tools` that asked for their schemas to be enforced. */
  readonly strict: readonly StrictTool[];
  /** What the schema of `content` asks for beyond what can be enforced. */
  readonly unenforced: readonly string[];
}

/** How schemas of a request wait for the thread that compiles them. */
export interface CompileTurn {
  /** Groups take turns: the session. */
  readonly group: string;
  /** A client that leaves takes its schemas with it. */
  readonly signal: AbortSignal;
}

type JsonGrammar = Extract<Grammar, { readonly type: "json" }>;

function contentGrammar(format: JsonValue | undefined): JsonGrammar | undefined {
  if (!isJsonObject(format)) return undefined;
  const { schema } = isJsonObject(format.json_schema) ? format.json_schema : {};
  return { type: "json", schema: (schema ?? { type: "object" }) as JsonValue };
}

/**
 * Schemas are compiled in a thread, once each.
 * @param turn whose turn it is there, and until when
 * @throws the signal's reason; ApiError 400 for a schema that is none, or takes too much work.
 */
export async function readOutputForm(
  request: CallRequest,
  turn: CompileTurn,
): Promise<OutputForm | null> {
  const { mustCall = false, names = null } = request.toolChoice ?? {};
  const tools = callableTools(request);
  const content = contentGrammar(request.serverFields?.response_format);
  const hasStrict = (request.strictTools ?? []).length > 0;
  const isAnyCall = !mustCall && names === null && !hasStrict && request.singleCall !== true;
  if (content === undefined && isAnyCall) return null;
  const outcome = content && (await compiled(content.schema, turn, "response_format"));
  if (outcome !== undefined && "problem" in outcome) {
    throw badRequest(
      "response_format",
      `The schema of response_format cannot be read: ${outcome.problem}`,
    );
  }
  return {
    content,
    tools,
    mustCall,
    isRestricted: names !== null,
    singleCall: request.singleCall === true,
    strict: await strictTools(request, tools, turn),
    unenforced: outcome?.compiled.unenforced ?? [],
  };
}

async function compiled(
  schema: JsonValue,
  { group, signal }: CompileTurn,
  field: string,
): Promise<SchemaOutcome> {
  try {
    return await schemaOutcome(schema, group, signal);
  } catch (error) {
    if (!(error instanceof GrammarLimitError)) throw error;
    throw new ApiError({
      status: 429,
      message: `A schema of ${field} is not compiled: ${error.message}`,
      param: field,
      retryAfterS: 1,
    });
  }
}

/**
 * What a request asks of its response that sampling does not enforce, each with the field and the place
 * in its schema; empty where all of it is enforced, or nothing was asked.
 * @param given.isApplied whether the sampler applies `SamplingParams.rules`
 * @throws ApiError as `readOutputForm`.
 */
export async function unenforcedOf(
  request: CallRequest,
  renderer: Renderer,
  { isApplied, ...turn }: CompileTurn & { readonly isApplied: boolean },
): Promise<readonly string[]> {
  const ofThinking = unchosenThinking(request, renderer);
  const form = await readOutputForm(request, turn);
  return form === null
    ? ofThinking
    : [...ofThinking, ...unenforcedForm(request, form, renderer, isApplied)];
}

/** Where the model's template has no choice of thinking. */
function unchosenThinking(
  { thinking, rawPrompt }: CallRequest,
  renderer: Renderer,
): readonly string[] {
  if (thinking === undefined || rawPrompt !== undefined || renderer.choosesThinking === true)
    return [];
  return [`thinking ${thinking ? "on" : "off"}: this model's template has no choice of it`];
}

function unenforcedForm(
  request: CallRequest,
  form: OutputForm,
  renderer: Renderer,
  isApplied: boolean,
): readonly string[] {
  const { content, mustCall, isRestricted, singleCall } = form;
  const strict = (request.strictTools ?? []).length > 0;
  const requested = [
    ...(content === undefined ? [] : ["response_format"]),
    ...(mustCall || isRestricted ? ["tool_choice"] : []),
    ...(singleCall ? ["parallel_tool_calls"] : []),
    ...(strict ? ["strict tools"] : []),
  ];
  if (!isApplied || request.rawPrompt !== undefined)
    return requested.map((field) => `${field}: responses are sampled freely`);
  // A single call of no tools is nothing to enforce.
  if (formGrammar(request, form, renderer) === null)
    return request.tools.length === 0 && content === undefined
      ? []
      : requested.map((field) => `${field}: how this model writes it is not known`);
  const found = [
    ...form.unenforced.map((what) => `response_format ${what}`),
    ...form.strict.flatMap(({ name, unenforced }) =>
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

async function strictTools(
  { strictTools: wanted = [] }: CallRequest,
  tools: readonly ToolDefinition[],
  turn: CompileTurn,
): Promise<readonly StrictTool[]> {
  const names = new Set(wanted);
  const found: StrictTool[] = [];
  for (const { name, parameters } of tools) {
    if (!names.has(name)) continue;
    const outcome = parameters && (await compiled(parameters, turn, "tools"));
    if (outcome === undefined) found.push({ name, unenforced: [], isReadable: false });
    else if ("problem" in outcome)
      found.push({ name, unenforced: [`#: ${outcome.problem}`], isReadable: false });
    else found.push({ name, unenforced: outcome.compiled.unenforced, isReadable: true });
  }
  return found;
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
  const { content, tools, mustCall, isRestricted } = form;
  const strict = form.strict.flatMap(({ name, isReadable }) => (isReadable ? [name] : []));
  const isOpen = content === undefined && !mustCall && !isRestricted;
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

/** Why a response does not have the form; undefined where it has. */
export function unmetOf(form: OutputForm | null, message: ChatMessage): string | undefined {
  if (form === null) return undefined;
  const calls = message.toolCalls ?? [];
  if (form.singleCall && calls.length > 1) return "parallel_tool_calls: several tools were called";
  if (form.mustCall && calls.length === 0) return "tool_choice: no tool was called";
  const isOther = calls.some(({ name }) => form.tools.every((tool) => tool.name !== name));
  if (isOther && (form.mustCall || form.isRestricted))
    return "tool_choice: another tool was called";
  if (form.content === undefined || calls.length > 0) return undefined;
  const problem = schemaProblem(
    form.content.schema,
    messageText(message.content, { image: "url" }),
  );
  return problem === null ? undefined : `response_format: ${problem}`;
}
