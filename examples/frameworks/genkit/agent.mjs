/** A shop assistant with Genkit, streaming. */
import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";
import { getPrice, multiply, questionsOf, systemPrompt } from "../shop.mjs";

export async function agent(task, { baseUrl, apiKey, model, signal }) {
  const ai = genkit({
    plugins: [openAICompatible({ name: "trainer", apiKey, baseURL: baseUrl, maxRetries: 0 })], // changed
  });
  const options = {
    model: `trainer/${model}`, // changed
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
  };
  let messages = [{ role: "system", content: [{ text: systemPrompt }] }];
  let text = "";
  for (const prompt of questionsOf(task)) {
    const response = await ai.generateStream({ ...options, messages, prompt }).response;
    ({ messages, text } = response);
  }
  return text;
}
