/** What the files of a model folder say about its chat format. */

/** `tokenizer_config.json`, as far as it matters here. */
export interface TokenizerConfig {
  readonly chat_template?: unknown;
  /** Specific to this package: `"names"` selects the short list of tools. */
  readonly tool_prompt?: unknown;
  readonly bos_token?: unknown;
  readonly eos_token?: unknown;
  readonly pad_token?: unknown;
  readonly tokenizer_class?: unknown;
  readonly clean_up_tokenization_spaces?: unknown;
}

export interface ChatTemplates {
  readonly template: string;
  readonly toolTemplate?: string;
}

/** A token is written as its text or as an object that holds it. */
export function tokenText(token: unknown): string | undefined {
  if (typeof token === "string") return token;
  if (typeof token !== "object" || token === null || !("content" in token)) return undefined;
  return typeof token.content === "string" ? token.content : undefined;
}

/** One template or a list with names; null when there is none. */
export function readTemplates(value: unknown): ChatTemplates | null {
  if (typeof value === "string") return value.trim() === "" ? null : { template: value };
  if (!Array.isArray(value)) return null;
  const named = new Map(
    (value as readonly { name?: unknown; template?: unknown }[]).flatMap((entry) =>
      typeof entry.template === "string" ? [[entry.name, entry.template] as const] : [],
    ),
  );
  const template = named.get("default") ?? named.values().next().value;
  const toolTemplate = named.get("tool_use");
  if (template === undefined) return null;
  return toolTemplate === undefined ? { template } : { template, toolTemplate };
}
