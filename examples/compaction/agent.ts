/** An agent with a window of 256 tokens: when it is full, the model writes notes, and a new conversation begins with them. */
import type { AgentFlow } from "agent-trainer";
import OpenAI from "openai";
import { notesPrompt, question, systemPrompt, type Visit, withNotes } from "./orders.ts";

export const window = 256;
/** What a message of the customer and a response to it may take. */
const turnTokens = 40;

type Message = OpenAI.ChatCompletionMessageParam;
const system: Message = { role: "system", content: systemPrompt };

export const agentFlow: AgentFlow<Visit> = {
  sideCalls: [
    { name: "summary", matches: ({ messages }) => messages.at(-1)?.content === notesPrompt },
  ],
  async run({ metadata: { said } }, { baseUrl: baseURL, apiKey, model, signal }) {
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    let messages: Message[] = [system];
    let used = 0;
    const ask = async (content: string): Promise<string> => {
      messages.push({ role: "user", content });
      const completion = await client.chat.completions.create({ model, messages }, { signal });
      const { message } = completion.choices[0]!;
      messages.push(message);
      used = completion.usage?.total_tokens ?? 0;
      return message.content ?? "";
    };
    let answer = "";
    for (const next of [...said, question]) {
      // The notes have to fit, too.
      if (used + 2 * turnTokens <= window) {
        answer = await ask(next);
      } else {
        const notes = await ask(notesPrompt);
        messages = [system];
        answer = await ask(withNotes(notes, next));
      }
    }
    return answer;
  },
};
