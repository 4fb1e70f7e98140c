/**
 * What ends a turn, where the chat template alone does not say it. In GLM's format the role of the next message
 * does (`<|user|>`, `<|observation|>`): the model samples that token, and the next prompt continues after it. A
 * model's files list such tokens among those that end a response.
 */
import { join } from "node:path";
import type { ChatMessage } from "../core/message.ts";
import { overlay } from "../core/overlay.ts";
import type { RenderedPrompt, Renderer } from "../core/policy.ts";
import { readJsonFile } from "../util/files/json-file.ts";
import { hasPrefix } from "../util/token-prefix.ts";

/** `eos_token_id`: a number or a list of them. */
export function tokenIds(value: unknown): readonly number[] {
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.filter((id): id is number => Number.isSafeInteger(id) && (id as number) >= 0);
}

/** Tokens that end a response, of a folder's `generation_config.json`, or else its `config.json`. */
export async function readEndIds(folder: string): Promise<readonly number[]> {
  for (const name of ["generation_config.json", "config.json"]) {
    const json = (await readJsonFile(join(folder, name)).catch(() => null)) as {
      readonly eos_token_id?: unknown;
    } | null;
    const ids = tokenIds(json?.eos_token_id);
    if (ids.length > 0) return ids;
  }
  return [];
}

/** The same of a GGUF file: the ends of a text, of a turn, and of a message that calls tools. */
export function ggufEndIds(metadata: Readonly<Record<string, unknown>>): readonly number[] {
  const names = ["eos", "eot", "eom"] as const;
  return names.flatMap((name) => tokenIds(metadata[`tokenizer.ggml.${name}_token_id`]));
}

const question: ChatMessage = { role: "user", content: "Q" };

/** Two turns that differ in the text of the assistant, or in its call, and what follows each. */
const probes = [
  ["7", "8"].map((text) => [question, { role: "assistant", content: text }, question]),
  ["7", "8"].map((text) => {
    const call = { id: "call00001", name: "f", arguments: `{"a":"${text}"}` };
    const result = { role: "tool", content: "R", toolCallId: call.id, name: "f" };
    return [question, { role: "assistant", content: "", toolCalls: [call] }, result];
  }),
] as unknown as readonly (readonly [readonly ChatMessage[], readonly ChatMessage[]])[];

/** The first end after the assistant's turn: what two prompts have in common at their end begins behind it. */
function endAfter(
  renderer: Renderer,
  probe: (typeof probes)[number],
  ends: ReadonlySet<number>,
): number | undefined {
  try {
    const [a, b] = probe.map((messages) => renderer.render(messages).tokens) as [
      Int32Array,
      Int32Array,
    ];
    let common = 0;
    while (common < Math.min(a.length, b.length) && a.at(-1 - common) === b.at(-1 - common))
      common++;
    return a.subarray(a.length - common).find((id) => ends.has(id));
  } catch {
    // A template without tools.
    return undefined;
  }
}

/**
 * Roles of next messages that end a turn of this renderer.
 * @param endIds tokens that end a response, as the model's files list them
 */
export function findRoleEnds(renderer: Renderer, endIds: readonly number[]): ReadonlySet<number> {
  const own = new Set(renderer.stop.tokenIds);
  const others = endIds.filter((id) => !own.has(id));
  if (others.length === 0) return new Set();
  const found = probes.map((probe) => endAfter(renderer, probe, new Set([...others, ...own])));
  return new Set(found.filter((id) => id !== undefined && !own.has(id)) as number[]);
}

/** The renderer, with the roles that end a turn, which is the same where there are none. */
export function withRoleEnds(renderer: Renderer, roles: ReadonlySet<number>): Renderer {
  if (roles.size === 0) return renderer;
  const stop = { ...renderer.stop, tokenIds: [...roles, ...renderer.stop.tokenIds] };
  const isEnded = (tokens: Int32Array): boolean => roles.has(tokens.at(-1) ?? -1);
  const said = (tokens: Int32Array): Int32Array =>
    isEnded(tokens) ? tokens.subarray(0, -1) : tokens;
  // What was sampled stays, its last token included, or there is no continuation.
  const continued = (previous: Int32Array, prompt: RenderedPrompt | null): RenderedPrompt | null =>
    prompt === null || hasPrefix(prompt.tokens, previous) ? prompt : null;
  const { long } = renderer;
  return overlay<Renderer>(renderer, {
    stop,
    parse: (tokens) => renderer.parse(said(tokens)),
    decode: (tokens) => renderer.decode(said(tokens)),
    extend: (previous, messages, options) =>
      continued(previous, renderer.extend(said(previous), messages, options)),
    ...(long === undefined
      ? {}
      : {
          long: overlay(long, {
            extend: async (previous, messages, options, signal) =>
              continued(previous, await long.extend(said(previous), messages, options, signal)),
          }),
        }),
  });
}
