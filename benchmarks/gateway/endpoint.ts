/** Where calls go and how: sessions as rollouts have them, chat completions of a known size. */

export const promptTokens = 512;
export const sampledTokens = 128;
/** One byte is one token; the turn's end is the last one that is drawn. */
export const completion = "The answer is four. ".repeat(7).slice(0, sampledTokens - 1);
/** What the renderer adds to the one message: its frame and the opening of the answer. */
const frameTokens = 19;
/** As many as a long conversation has. */
const callsPerSession = 8;

export interface Session {
  readonly url: string;
  readonly apiKey: string;
}

interface Usage {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** `n` characters that no other call has. */
function question(connection: number, index: number): string {
  const start = `${connection}/${index} `;
  return start.padEnd(promptTokens - frameTokens, "How much is two plus two? ");
}

async function readResponse(response: Response): Promise<string> {
  const body = await response.text();
  if (response.ok) return body;
  throw new Error(`${response.url} answered ${response.status}: ${body}`);
}

/** The body of the answer. @throws Error when it is a failure. */
export async function callChat(
  { url, apiKey }: Session,
  connection: number,
  index: number,
): Promise<string> {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model: "scripted",
      messages: [{ role: "user", content: question(connection, index) }],
      max_tokens: 512,
    }),
  });
  return readResponse(response);
}

/** @throws Error when a call does not have the tokens that the benchmark says. */
export function checkTokens(body: string): void {
  const { usage } = JSON.parse(body) as Usage;
  if (usage.prompt_tokens === promptTokens && usage.completion_tokens === sampledTokens) return;
  throw new Error(`A call has ${JSON.stringify(usage)}, not ${promptTokens} + ${sampledTokens}.`);
}

/** Sessions of one round, opened before it and closed after it, so that traces do not pile up. */
export async function openSessions(
  gateway: { readonly url: string; readonly adminToken: string },
  connections: number,
  callsEach: number,
): Promise<{ of(connection: number, index: number): Session; close(): Promise<void> }> {
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  const admin = `${gateway.url}/sessions`;
  const each = Math.ceil(callsEach / callsPerSession);
  const open: (Session & { readonly id: string })[] = [];
  for (let i = 0; i < connections * each; i++) {
    const body = await readResponse(await fetch(admin, { method: "POST", headers, body: "{}" }));
    const session = JSON.parse(body) as { session_id: string; url: string; api_key: string };
    open.push({ id: session.session_id, url: session.url, apiKey: session.api_key });
  }
  return {
    of: (connection, index) => open[connection * each + Math.floor(index / callsPerSession)]!,
    async close() {
      for (const { id } of open) {
        await readResponse(await fetch(`${admin}/${id}`, { method: "DELETE", headers }));
      }
    },
  };
}
