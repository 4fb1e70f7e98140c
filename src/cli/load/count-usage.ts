/** A `fetch` that counts the calls of a model and the tokens that its responses say they took. */

import { sizeFault } from "../../http/http-fault.ts";
import { readLimited } from "../../util/read-limited.ts";

/** As much as a judge may respond with. */
const maxBytes = 1_000_000;

export interface Usage {
  calls: number;
  promptTokens: number;
  completionTokens: number;
}

export function countUsage(): { readonly usage: Usage; readonly fetch: typeof fetch } {
  const usage: Usage = { calls: 0, promptTokens: 0, completionTokens: 0 };
  const counted: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    usage.calls++;
    const text = await readLimited(response, maxBytes, () => sizeFault(maxBytes));
    try {
      const found = (JSON.parse(text) as { usage?: Record<string, unknown> }).usage;
      usage.promptTokens += Number(found?.["prompt_tokens"] ?? 0);
      usage.completionTokens += Number(found?.["completion_tokens"] ?? 0);
    } catch {
      // What is no completion is reported by who asked.
    }
    const { status, statusText, headers } = response;
    return new Response(text === "" ? null : text, { status, statusText, headers });
  };
  return { usage, fetch: counted };
}
