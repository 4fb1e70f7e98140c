/** Takes personal data out of a turn, by rules and by a hook, before any of it is written. */
import type { ChatMessage, JsonObject, ToolCall, ToolDefinition } from "../../core/message.ts";
import { messageText } from "../../core/message-text.ts";
import { PersonalData } from "./personal-data.ts";
import { replaceInJson } from "./replace-in-json.ts";
import type { Turn } from "./turns.ts";

/** Returns a text without what must not be trained on; null drops the turn. */
export type ScrubHook = (text: string) => string | null | Promise<string | null>;

/** The turn and a correction of it: the same value has the same name in both. */
export interface Scrubbed {
  readonly turn: Turn;
  readonly correction: string | null;
  readonly found: ReadonlyMap<string, number>;
}

class Dropped extends Error {}

/** Words of JSON Schema: a hook that changes them leaves no schema. */
const schemaWords: ReadonlySet<string> = new Set(
  (
    "$anchor $comment $defs $id $ref $schema additionalProperties allOf anyOf array boolean const contains default " +
    "definitions dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum " +
    "exclusiveMinimum format if integer items maxContains maxItems maxLength maxProperties maximum minContains minItems " +
    "minLength minProperties minimum multipleOf not null number object oneOf pattern patternProperties prefixItems " +
    "properties propertyNames readOnly required strict string then title type unevaluatedItems unevaluatedProperties " +
    "uniqueItems writeOnly"
  ).split(" "),
);

/** null where the hook dropped it. */
export async function scrubTurn(
  turn: Turn,
  correction: string | null,
  hook: ScrubHook | null,
): Promise<Scrubbed | null> {
  const data = new PersonalData();
  const byHook = async (text: string): Promise<string> => {
    const result = hook === null || text === "" ? text : await hook(text);
    if (result === null) throw new Dropped();
    return result;
  };
  const byRules = (text: string): string => data.replace(text);
  const clean = async (text: string): Promise<string> => await byHook(byRules(text));
  const cleanWhole = async (text: string): Promise<string> =>
    await byHook(await replaceInJson(text, byRules));
  const cleanCall = async (call: ToolCall): Promise<ToolCall> => ({
    ...call,
    name: byRules(call.name),
    arguments: await replaceInJson(call.arguments, clean),
  });
  const cleanMessage = async (message: ChatMessage): Promise<ChatMessage> => ({
    ...message,
    ...(message.reasoning === undefined ? {} : { reasoning: await clean(message.reasoning) }),
    content: await cleanWhole(messageText(message.content)),
    ...(message.name === undefined ? {} : { name: byRules(message.name) }),
    ...(message.toolCalls === undefined
      ? {}
      : { toolCalls: await eachOf(message.toolCalls, cleanCall) }),
  });
  const cleanTool = async (tool: ToolDefinition): Promise<ToolDefinition> => {
    const { name, description, parameters, parametersText } = tool;
    const given =
      parametersText ?? (parameters === undefined ? undefined : JSON.stringify(parameters));
    const said = description === undefined ? undefined : await clean(description);
    const schema =
      given === undefined
        ? undefined
        : await replaceInJson(given, (text) => (schemaWords.has(text) ? text : clean(text)));
    return {
      ...tool,
      name: byRules(name),
      ...(said === undefined ? {} : { description: said }),
      ...(schema === undefined ? {} : { parameters: JSON.parse(schema) as JsonObject }),
      ...(parametersText === undefined ? {} : { parametersText: schema! }),
    };
  };
  try {
    const prompt = await eachOf(turn.prompt, cleanMessage);
    const completion = await eachOf(turn.completion, cleanMessage);
    return {
      turn: { ...turn, prompt, completion, tools: await eachOf(turn.tools, cleanTool) },
      correction: correction === null ? null : await cleanWhole(correction),
      found: data.counts,
    };
  } catch (error) {
    if (error instanceof Dropped) return null;
    throw error;
  }
}

/** One after the other: values are numbered in the order of the conversation. */
async function eachOf<T, U>(list: readonly T[], change: (one: T) => Promise<U>): Promise<U[]> {
  const result: U[] = [];
  for (const one of list) result.push(await change(one));
  return result;
}
