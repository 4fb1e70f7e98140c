/** A shop assistant with Genkit, streaming. */
import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";
import { getPrice, multiply, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const ai = genkit({
    plugins: [openAICompatible({ name: "trainer", apiKey, baseURL: baseUrl, maxRetries: 0 })], // changed
  });
  const { response } = ai.generateStream({
    model: `trainer/${model}`, // changed
    system: systemPrompt,
    prompt: task.instruction,
    maxTurns: 4,
    abortSignal: signal,
    tools: [
      ai.dynamicTool(
        { name: "get_price", description: "", inputSchema: z.object({ item: z.string() }) },
        async ({ item }) => getPrice(task.metadata, item),
      ),
      ai.dynamicTool(
        {
          name: "multiply",
          description: "",
          inputSchema: z.object({ a: z.number(), b: z.number() }),
        },
        async ({ a, b }) => multiply(a, b),
      ),
    ],
  });
  return (await response).text;
}
