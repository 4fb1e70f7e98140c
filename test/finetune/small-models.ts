/** The built-in model with another chat format, and its previews. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type FineTunePreview, previewFineTune } from "../../src/launch/finetune/preview.ts";

const tiny = fileURLToPath(new URL("../../models/shop-tiny", import.meta.url));

export interface Changes {
  /** The special tokens from 507 on, in place of shop-tiny's. */
  readonly tokens?: readonly string[];
  readonly template?: string;
  readonly eosToken?: string;
  readonly generation?: object | null;
  readonly config?: object;
}

export const readJson = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

/** The built-in model with another chat format. */
export function makeModel({ tokens, template, eosToken, generation, config }: Changes): string {
  const folder = mkdtempSync(join(tmpdir(), "agent-trainer-turn-ends-"));
  cpSync(tiny, folder, { recursive: true });
  const tokenizer = readJson(join(folder, "tokenizer.json")) as {
    added_tokens: { id: number; content: string }[];
    model: { vocab: Record<string, number> };
  };
  for (const [i, content] of (tokens ?? []).entries()) {
    const added = tokenizer.added_tokens[i]!;
    delete tokenizer.model.vocab[added.content];
    added.content = content;
  }
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  const own = readJson(join(folder, "tokenizer_config.json"));
  writeFileSync(
    join(folder, "tokenizer_config.json"),
    JSON.stringify({
      tokenizer_class: own["tokenizer_class"],
      eos_token: eosToken ?? own["eos_token"],
      chat_template: template ?? own["chat_template"],
    }),
  );
  const settings = { ...readJson(join(folder, "config.json")), ...config };
  writeFileSync(join(folder, "config.json"), JSON.stringify(settings));
  if (generation !== null && generation !== undefined)
    writeFileSync(join(folder, "generation_config.json"), JSON.stringify(generation));
  return folder;
}

export const preview = (
  name: string,
  train: string | readonly unknown[],
  options: object = {},
): Promise<FineTunePreview> =>
  previewFineTune({ config: { model: { name }, fineTuning: options }, train }, 9);

/** The texts of the examples, trained parts in brackets. */
export async function previewTexts(name: string, train: readonly unknown[]): Promise<string[]> {
  const { rows } = await preview(name, train);
  return rows.map(({ parts }) =>
    parts.map(({ text, trained }) => (trained ? `⟦${text}⟧` : text)).join(""),
  );
}
