/**
 * A request that is refused takes its turn nevertheless, and fails in it: clients count on, so a number
 * that was left out would hold up everything after it.
 */
import type { Context } from "hono";
import { RequestError } from "../request-error.ts";
import { fingerprintOf } from "../service.ts";
import type { TinkerService } from "../service.ts";

interface Turn {
  readonly modelId: string;
  readonly seqId: number;
}

function turnOf(text: string): Turn | null {
  try {
    const { model_id: modelId, seq_id: seqId } = JSON.parse(text) as Record<string, unknown>;
    const isTurn = typeof modelId === "string" && Number.isSafeInteger(seqId) && Number(seqId) > 0;
    return isTurn ? { modelId, seqId: Number(seqId) } : null;
  } catch {
    return null;
  }
}

/** @param handle is given the body's text. */
export function inTurn(
  service: TinkerService,
  handle: (c: Context, text: string) => Response | Promise<Response>,
): (c: Context) => Promise<Response> {
  return async (c) => {
    const text = await c.req.text();
    try {
      return await handle(c, text);
    } catch (error) {
      const turn = turnOf(text);
      const isRefusal = error instanceof RequestError && [400, 422].includes(error.status);
      if (!isRefusal || turn === null) throw error;
      const fingerprint = fingerprintOf(c.req.path, text);
      const future = service.inOrder(turn.modelId, turn.seqId, fingerprint, () => {
        throw error;
      });
      return c.json({ request_id: future, model_id: turn.modelId });
    }
  };
}
