/** Reads questions from stdin, answers with llama.cpp; copied beside its packages, since Node looks for them there. */
import { readFileSync } from "node:fs";
import { getLlama } from "node-llama-cpp";

const { prompts, maxTokens, texts, adapter } = JSON.parse(readFileSync(0, "utf8"));
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const lora = adapter === undefined ? {} : { lora: adapter };
const context = await model.createContext({ contextSize: 2048, threads: 1, ...lora });
const answers = [];
for (const prompt of prompts) {
  const sequence = context.getSequence();
  const answer = [];
  for await (const token of sequence.evaluate(prompt, { temperature: 0 })) {
    if (model.isEogToken(token)) break;
    if (answer.push(token) >= maxTokens) break;
  }
  sequence.dispose();
  answers.push(answer);
}
const tokens = texts.map((text) => model.tokenize(text, false));
process.stdout.write(JSON.stringify({ answers, tokens }));
process.exit(0);
