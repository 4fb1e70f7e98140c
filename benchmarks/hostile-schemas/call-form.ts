/** A call of the gateway with a schema for its response. */
import type { JsonValue } from "../../src/core/message.ts";

export interface Session {
  readonly url: string;
  readonly apiKey: string;
}

/** The status. */
export async function callForm({ url, apiKey }: Session, schema: JsonValue): Promise<number> {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model: "scripted",
      messages: [{ role: "user", content: "JSON, please." }],
      response_format: { type: "json_schema", json_schema: { name: "a", schema } },
    }),
  });
  await response.arrayBuffer();
  return response.status;
}

export async function openSession(url: string, adminToken: string): Promise<Session> {
  const response = await fetch(`${url}/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}` },
    body: "{}",
  });
  if (!response.ok) throw new Error(`A session was answered with ${response.status}.`);
  const opened = (await response.json()) as { readonly url: string; readonly api_key: string };
  return { url: opened.url, apiKey: opened.api_key };
}
