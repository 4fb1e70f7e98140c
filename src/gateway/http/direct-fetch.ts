/** The server as a `fetch` for clients in this process, who see what they see through a socket. */
import { raceAbort } from "../../util/abort.ts";
import { EarlyReply, type Reply, toResponse } from "./reply.ts";
import { EventStream } from "./event-stream.ts";

/** Requests under `origin` go to `app`, others to the global `fetch`. */
export function directFetch(
  app: (request: Request) => Promise<Reply>,
  origin: string,
): typeof fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith(`${origin}/`)) return await fetch(input, init);
    const request = new Request(input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const reply = await raceAbort(app(request), signal);
    const response = toResponse(reply);
    const isComplete = !(reply instanceof EventStream || reply instanceof EarlyReply);
    return isComplete ? response : untilAborted(response, signal);
  };
}

/** As a connection would: who aborts the request ends the body, and the server learns of it. */
function untilAborted(response: Response, signal: AbortSignal): Response {
  return new Response(response.body!.pipeThrough(new TransformStream(), { signal }), response);
}
