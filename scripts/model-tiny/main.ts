/**
 * Makes the built-in model `models/shop-tiny` from nothing but a seed: a tokenizer learned from the
 * demonstrations, then supervised training with our own engine.
 *
 *   npm run model:tiny -- [--seed 1] [--steps 800] [--out models/shop-tiny]
 */
import { parseArgs } from "node:util";
import type { ChatMessage } from "../../src/core/message.ts";
import { createRandom, deriveSeed } from "../../src/util/random.ts";
import { demonstrate, tools } from "./demonstrations.ts";
import { configOf, special, teach } from "./teach.ts";
import { learnMerges, tokenizerJson } from "./train-bpe.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "800" },
    out: { type: "string", default: "models/shop-tiny" },
  },
});
const seed = Number(options.seed);
const steps = Number(options.steps);
const vocabSize = 512;

function textOf(content: ChatMessage["content"]): string {
  return typeof content === "string" ? content : "";
}

function learnTokenizer(): object {
  const random = createRandom(deriveSeed(seed, "tokenizer"));
  const texts = Array.from({ length: 4000 }, () => demonstrate(random)).flatMap((messages) =>
    messages.flatMap(({ role, content, toolCalls = [] }) => [
      `${role}\n${textOf(content)}`,
      `\n<tool_response>\n${textOf(content)}\n</tool_response>`,
      ...toolCalls.map(
        (call) =>
          `\n{"name": "${call.name}", "arguments": ${call.arguments.replaceAll(/([:,])/g, "$1 ")}}\n`,
      ),
    ]),
  );
  texts.push(`Tools: ${tools.map(({ name }) => name).join(", ")}`);
  return tokenizerJson(learnMerges(texts, vocabSize - 256 - special.length), special);
}

await teach({
  config: configOf(vocabSize, 512),
  tokenizer: learnTokenizer(),
  tools,
  demonstrate,
  seed,
  steps,
  batchSize: 48,
  out: options.out,
});
