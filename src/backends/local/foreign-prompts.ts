/**
 * Says once that a model of few word pieces is given texts that it has never seen: it spells them letter by letter,
 * which fills its short context, and it cannot learn from them what a larger model would.
 */
import { messageText } from "../../core/message-text.ts";
import type { ChatMessage } from "../../core/message.ts";
import { join } from "node:path";
import { isGgufPath } from "../../engine/checkpoint/gguf/gguf-file.ts";
import { readJsonFile } from "../../util/files/json-file.ts";
import type { RenderedPrompt, Renderer, RenderOptions } from "../../core/policy.ts";

/** The built-in model and what was trained from it have 512 pieces; models of real languages tens of thousands. */
const maxPieces = 1024;
/** Below it a text is spelled. The shop's prompts have 3 to 6 characters for a token, others 1.2 to 1.5. */
const leastCharacters = 2;
/** Prompts that are looked at: later ones are like them. */
const maxSeen = 64;
/** Shorter prompts say too little. */
const leastTokens = 16;

export interface SmallVocabulary {
  readonly name: string;
  /** Word pieces. */
  readonly vocabulary: number;
  readonly contextLength: number;
}

function foreignPromptNotice(
  { name, vocabulary, contextLength }: SmallVocabulary,
  charactersPerToken: number,
  tools: readonly string[] = [],
): string {
  const bits = (perToken: number): string => (Math.log2(vocabulary) / perToken).toFixed(1);
  return [
    `${tools.length === 0 ? "The agent's prompts are" : `The agent's tools (${tools.slice(0, 5).join(", ")}) are`} not in the words of ${name}: ${charactersPerToken.toFixed(1)} characters for a token, ${bits(charactersPerToken)} bits a character, where those of the shop that it knows have ${bits(3.5)}.`,
    `It has ${vocabulary} word pieces and ${contextLength} tokens of context, so it spells other texts and tools letter by letter and will hardly learn the task.`,
    "Take a model that knows the language, as in model.name=HuggingFaceTB/SmolLM2-135M-Instruct; docs/models.md has a table.",
  ].join(" ");
}

/** Word pieces of a model folder; Infinity for a GGUF file, which no small model is exported as. */
export async function vocabularyOf(path: string): Promise<number> {
  if (isGgufPath(path)) return Infinity;
  const { vocab_size: size } = await readJsonFile(join(path, "config.json"));
  return typeof size === "number" ? size : Infinity;
}

type Rendering = Pick<Renderer, "render">;

/** The same renderer in everything; `onForeign` is called once, for the first prompt that is spelled. */
export function watchPrompts(
  renderer: Renderer,
  model: SmallVocabulary,
  onForeign: (message: string) => void,
): Renderer {
  if (model.vocabulary > maxPieces) return renderer;
  let [isSaid, seen] = [false, 0];
  const judge = (text: string, tokens: number, tools?: readonly string[]): void => {
    const characters = text.length / tokens;
    if (isSaid || characters >= leastCharacters) return;
    isSaid = true;
    onForeign(foreignPromptNotice(model, characters, tools));
  };
  /** Of a text, or of the names of tools. */
  const judgeText = (text: string, names?: readonly string[]): void => {
    const spelled = renderer.encode?.(text) ?? [];
    if (spelled.length > 0) judge(text, spelled.length, names);
  };
  /** A prompt that does not fit is scored by how its newest message begins. */
  const seeRefused = (messages: readonly ChatMessage[]): void => {
    if (isSaid || ++seen > maxSeen) return;
    const text = messageText(messages.at(-1)?.content).slice(0, 400);
    if (text.length >= 2 * leastTokens) judgeText(text);
  };
  const see = ({ tokens }: RenderedPrompt, { tools = [] }: RenderOptions = {}): void => {
    if (isSaid || ++seen > maxSeen) return;
    if (tokens.length >= leastTokens) judge(renderer.decode(tokens), tokens.length);
    const names = tools.map(({ name }) => name);
    if (names.length > 0) judgeText(names.join(" "), names);
  };
  const watched = <T extends Rendering | NonNullable<Renderer["long"]>>(parts: T): T =>
    new Proxy(parts, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === "long" && typeof value === "object" && value !== null)
          return watched(value as NonNullable<Renderer["long"]>);
        if (typeof value !== "function") return value;
        const call = value.bind(target) as (...given: unknown[]) => unknown;
        if (name !== "render") return call;
        return (...given: unknown[]) => {
          const [messages, options] = given as [readonly ChatMessage[], RenderOptions | undefined];
          try {
            const rendered = call(...given) as RenderedPrompt | Promise<RenderedPrompt>;
            if (!(rendered instanceof Promise)) see(rendered, options);
            else
              rendered.then(
                (prompt) => see(prompt, options),
                () => seeRefused(messages),
              );
            return rendered;
          } catch (error) {
            seeRefused(messages);
            throw error;
          }
        };
      },
    });
  return watched(renderer);
}
