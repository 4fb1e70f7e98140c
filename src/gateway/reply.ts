/**
 * What a route answers with. A whole JSON answer stays text until it is known where it goes: a socket
 * takes it as it is, which costs a tenth of a Response and its streams.
 */

/** Status 200. */
export class JsonReply {
  readonly text: string;

  constructor(value: object) {
    this.text = JSON.stringify(value);
  }
}

export type Reply = JsonReply | Response;

export const jsonHeaders: Readonly<Record<string, string>> = { "content-type": "application/json" };

export function toResponse(reply: Reply): Response {
  return reply instanceof Response ? reply : new Response(reply.text, { headers: jsonHeaders });
}
