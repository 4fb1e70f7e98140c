/** The renderers under test, each with real ids to draw from and texts that are worth drawing. */
import { readFileSync } from "node:fs";
import type { Renderer } from "../../src/core/policy.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { createJinjaRenderer } from "../../src/models/renderers/jinja/jinja.ts";
import { createTokenizer, type TextTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { familyTemplates, loadFamily } from "../renderers/family-templates.ts";
import { loadReal, type RealModel } from "../renderers/real-tokenizers.ts";
import { xmlTemplate } from "../renderers/templates.ts";

export interface TruthModel {
  readonly name: string;
  readonly renderer: Renderer;
  readonly tokenizer: TextTokenizer;
  /** Ids from 0 to it, exclusive, exist. */
  readonly vocabulary: number;
  /** Special ids that do not end an answer. */
  readonly controls: readonly number[];
  /** Share of the conversations; Jinja is slow. */
  readonly weight: number;
}

const maxMemo = 50_000;

/** Encoding is most of the time, and the texts of clients are few. */
function remembering(tokenizer: TextTokenizer): TextTokenizer {
  const memo = new Map<string, number[]>();
  return {
    ...tokenizer,
    encode(text) {
      const known = memo.get(text);
      if (known) return known;
      const ids = tokenizer.encode(text);
      if (memo.size > maxMemo) memo.clear();
      memo.set(text, ids);
      return ids;
    },
  };
}

function model(
  name: string,
  tokenizer: TextTokenizer,
  renderer: Renderer,
  vocabulary: number,
  weight = 1,
): TruthModel {
  const controls = [...tokenizer.controls.byText.values()]
    .map(({ id }) => id)
    .filter((id) => !renderer.stop.tokenIds.includes(id));
  return { name, renderer, tokenizer, vocabulary, controls, weight };
}

function real(source: RealModel): {
  tokenizer: TextTokenizer;
  config: ReturnType<typeof loadReal>["config"];
} {
  const { tokenizer, config } = loadReal(source);
  return { tokenizer: remembering(tokenizer), config };
}

const native = ({ tokenizer, config }: ReturnType<typeof real>, enableThinking = true): Renderer =>
  chooseRenderer(tokenizer, config, { enableThinking });

/** Families without reasoning. */
export function loadPlainModels(): readonly TruthModel[] {
  const folder = new URL("../../models/shop-tiny/", import.meta.url);
  const read = (file: string): object =>
    JSON.parse(readFileSync(new URL(file, folder), "utf8")) as object;
  const tiny = remembering(createTokenizer(read("tokenizer.json"), "shop-tiny"));
  const qwen25 = real("qwen2_5");
  const llama = real("llama3_2");
  const jinja = createJinjaRenderer(qwen25.tokenizer, { template: qwen25.config.chat_template });
  return [
    model("built-in", tiny, chooseRenderer(tiny, read("tokenizer_config.json")), 512, 2),
    model("qwen2.5", qwen25.tokenizer, native(qwen25), 151_643, 2),
    model("llama3.2", llama.tokenizer, native(llama), 128_000, 2),
    model("jinja qwen2.5", qwen25.tokenizer, jinja, 151_643, 0.15),
  ];
}

/** Families by their chat templates, with the words of Qwen 2.5. */
export function loadFamilyModels(): readonly TruthModel[] {
  return Object.entries(familyTemplates).map(([name, [family]]) => {
    const { tokenizer, renderer } = loadFamily(name);
    return model(name, tokenizer, renderer, 151_643, family === "jinja" ? 0.15 : 1);
  });
}

/** Qwen 3 thinking and not, and its tokenizer with calls in XML. */
export function loadQwen3Models(): readonly TruthModel[] {
  const qwen3 = real("qwen3");
  const jinjaXml = createJinjaRenderer(qwen3.tokenizer, { template: xmlTemplate });
  return [
    model("qwen3", qwen3.tokenizer, native(qwen3), 151_643, 3),
    model("qwen3 off", qwen3.tokenizer, native(qwen3, false), 151_643, 1.5),
    model("jinja xml", qwen3.tokenizer, jinjaXml, 151_643, 0.15),
  ];
}
