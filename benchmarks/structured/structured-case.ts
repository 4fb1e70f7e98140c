/** Child: samples under a grammar and without, from one engine. */
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonValue } from "../../src/core/message.ts";
import { defaultSampling, type Sample } from "../../src/core/policy.ts";
import type { Vocabulary } from "../../src/core/vocabulary.ts";
import { loadModelRenderer, loadTokenizerFiles } from "../../src/backends/local/load-model.ts";
import type { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { readVocabulary } from "../../src/models/tokenizers/vocabulary-bytes.ts";
import { openEngine } from "../engine/open-engine.ts";
import type { ModelCase } from "../engine/models.ts";
import { answer } from "../harness/child-side.ts";
import { median } from "../harness/statistics.ts";
import { schemas } from "./schemas.ts";

export interface StructuredInput {
  readonly model: ModelCase;
  /** Samples of each schema; 0 to measure speed. */
  readonly perSchema: number;
  readonly repetitions: number;
  readonly tokens: number;
}

export interface StructuredOutput {
  readonly samples: number;
  readonly valid: number;
  /** Median over pairs of runs: time of a token under a grammar over that of a free one, less 1. */
  readonly overhead: number;
}

/** For weights without a tokenizer: all bytes, and words of some letters. */
function madeUpVocabulary(size: number): Vocabulary {
  const letters = [...' etaoinshrdlucm,.":{}[]0123456789'];
  const words: Uint8Array[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  for (const a of letters)
    for (const b of letters)
      for (const c of ["", ...letters, "th", "in", "er", "an", "ou", "st", "es"])
        if (words.length < size) words.push(Buffer.from(a + b + c));
  while (words.length < size) words.push(Buffer.from(`w${words.length}`));
  const offsets = new Uint32Array(size + 1);
  for (const [i, word] of words.entries()) offsets[i + 1] = offsets[i]! + word.length;
  return { size, bytes: Buffer.concat(words), offsets, added: new Map() };
}

async function countValid(
  engine: PolicyEngine,
  { model, perSchema }: StructuredInput,
): Promise<number> {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const renderer = await loadModelRenderer(model.folder);
  const prompt = renderer.render([{ role: "user", content: "JSON, please." }]).tokens;
  let valid = 0;
  for (const [seed, schema] of schemas.entries()) {
    const validate = ajv.compile(schema as object);
    const rules = { grammar: { type: "json", schema } } as const;
    const { tokenIds: stopTokenIds } = renderer.stop;
    const params = { ...defaultSampling, maxTokens: 400, stopTokenIds, seed, rules };
    for (const { tokens } of await engine.sample({ tokens: prompt, params, n: perSchema })) {
      const text = renderer.decode(tokens);
      let isValid = false;
      try {
        isValid = validate(JSON.parse(text));
      } catch {
        isValid = false;
      }
      if (isValid) valid += 1;
      else process.stderr.write(`schema ${seed}: ${JSON.stringify(text)}\n`);
    }
  }
  return valid;
}

/** Longer than any run, so that every sample has the same number of tokens. */
const endless: JsonValue = {
  type: "array",
  minItems: 1000,
  items: {
    type: "object",
    properties: { name: { type: "string" }, n: { type: "integer" } },
    required: ["name", "n"],
  },
};

async function measureOverhead(engine: PolicyEngine, input: StructuredInput): Promise<number> {
  const { repetitions, tokens, model } = input;
  const prompt = Int32Array.from({ length: 16 }, (_, i) => (i * 31) % model.vocabSize);
  const rules = { grammar: { type: "json", schema: endless } } as const;
  const time = async (isConstrained: boolean, seed: number): Promise<number> => {
    // Both outside of the graph, as with any filter; and as samples of plain calls are, inside.
    const params = { ...defaultSampling, maxTokens: tokens, stopTokenIds: [], seed };
    const start = performance.now();
    const samples: readonly Sample[] = await engine.sample({
      tokens: prompt,
      n: 8,
      params: isConstrained ? { ...params, rules } : params,
    });
    const count = samples.reduce((sum, sample) => sum + sample.tokens.length, 0);
    return (performance.now() - start) / count;
  };
  await time(true, 0);
  await time(false, 0);
  const ratios: number[] = [];
  for (let i = 1; i <= repetitions; i++)
    ratios.push((await time(true, i)) / (await time(false, i)));
  return median(ratios) - 1;
}

answer(async (input: StructuredInput): Promise<StructuredOutput> => {
  const engine = await openEngine(input.model);
  const isMadeUp = input.model.name.includes("shape");
  const { vocabSize, folder } = input.model;
  const vocabulary = isMadeUp
    ? madeUpVocabulary(vocabSize)
    : readVocabulary((await loadTokenizerFiles(folder)).tokenizer, vocabSize);
  engine.vocabulary = vocabulary!;
  const samples = input.perSchema * schemas.length;
  const valid = samples === 0 ? 0 : await countValid(engine, input);
  const overhead = samples === 0 ? await measureOverhead(engine, input) : 0;
  await engine[Symbol.asyncDispose]();
  return { samples, valid, overhead };
});
