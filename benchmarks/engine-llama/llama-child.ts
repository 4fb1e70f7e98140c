/** llama.cpp's side of a comparison: continues random prompts when it is told to. */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { createRandom } from "../../src/util/random.ts";
import { peakMiB } from "../harness/child-side.ts";
import type { SampleTurn } from "../engine-peers/turn.ts";
import { llamaModule } from "./llama-files.ts";

/** What is used of node-llama-cpp, which is no dependency. */
interface LlamaContext {
  getSequence(): {
    evaluate(
      tokens: readonly number[],
      options: { readonly temperature: number; readonly yieldEogToken: true },
    ): AsyncIterable<number>;
    dispose(): void;
  };
}
interface LlamaModel {
  createContext(options: {
    readonly contextSize: number;
    readonly sequences: number;
    readonly threads: number;
    readonly batchSize: number;
  }): Promise<LlamaContext>;
}
interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
}

let model: LlamaModel;
let vocabSize: number;
let threads: number;
const contexts = new Map<number, LlamaContext>();
const random = createRandom(1);

const work = {
  async open(input: { model: string; threads: number; vocabSize: number }) {
    const program = (await import(pathToFileURL(llamaModule).href)) as {
      getLlama(options: object): Promise<Llama>;
    };
    const llama = await program.getLlama({ gpu: false, build: "never", logLevel: "error" });
    model = await llama.loadModel({ modelPath: input.model });
    ({ threads, vocabSize } = input);
    return {};
  },
  async sample({ batch, promptTokens, newTokens }: Omit<SampleTurn, "do">) {
    let context = contexts.get(batch);
    if (context === undefined) {
      const contextSize = promptTokens + newTokens + 1;
      const batchSize = batch * promptTokens;
      context = await model.createContext({ contextSize, sequences: batch, threads, batchSize });
      contexts.set(batch, context);
    }
    const shared = context;
    const prompts = Array.from({ length: batch }, () =>
      Array.from({ length: promptTokens }, () => Math.floor(random() * vocabSize)),
    );
    const start = performance.now();
    await Promise.all(
      prompts.map(async (prompt) => {
        const sequence = shared.getSequence();
        let sampled = 0;
        for await (const _ of sequence.evaluate(prompt, { temperature: 1, yieldEogToken: true }))
          if (++sampled >= newTokens) break;
        sequence.dispose();
        if (sampled < newTokens)
          throw new Error(`llama.cpp drew ${sampled} of ${newTokens} tokens.`);
      }),
    );
    return { seconds: (performance.now() - start) / 1000 };
  },
};

type Request = ({ do: "open" } & Parameters<typeof work.open>[0]) | SampleTurn;

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...input } = JSON.parse(line) as Request;
  const answer = await (work[name] as (input: object) => Promise<object>)(input);
  process.stdout.write(`${JSON.stringify({ ...answer, peakMiB: peakMiB() })}\n`);
}
