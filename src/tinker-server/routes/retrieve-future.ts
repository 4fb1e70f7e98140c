/** `POST /retrieve_future`, for every API that this server speaks: waits for a result, a while at a time. */
import type { Context } from "hono";
import { z } from "zod";
import { RequestError } from "../request-error.ts";
import type { TinkerService } from "../service.ts";
import { bodyText, readBody } from "./read-body.ts";

const retrieveBody = z.object({
  request_id: z.string(),
  allow_metadata_only: z.boolean().nullish(),
});

export interface RetrieveBody {
  readonly request_id: string;
  readonly allow_metadata_only?: boolean | null | undefined;
}

/** @param respond writes a result. @throws RequestError 410 for a result that is gone. */
export function retrieveFuture(
  service: TinkerService,
  pollMs: number,
  respond: (c: Context, result: unknown, body: RetrieveBody) => Response,
): (c: Context) => Promise<Response> {
  return async (c) => {
    const body = readBody(retrieveBody, bodyText(c));
    const { request_id: id } = body;
    service.sessions.touch(service.futures.ownerOf(id) ?? "");
    const outcome = await service.futures.wait(id, pollMs);
    if (outcome === null)
      throw new RequestError(410, `The result of request ${id} is gone, or never was.`);
    if (outcome === "pending")
      return c.json({ type: "try_again", request_id: id, queue_state: "active" });
    if (outcome.kind === "failed")
      return c.json({ error: outcome.message, category: outcome.category });
    return respond(c, outcome.result, body);
  };
}
