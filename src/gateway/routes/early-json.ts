/**
 * A whole response for clients that give up on a server that is silent for long, as Node's fetch does after
 * five minutes: beyond a while it begins before it is known.
 */
import { toApiError } from "../http/api-error.ts";
import { errorBody, errorShapeOf } from "../http/error-response.ts";
import type { GatewayContext } from "../gateway-context.ts";
import {
  EarlyReply,
  type EarlyOutcome,
  type JsonReply,
  type MoreHeaders,
  type Reply,
} from "../http/reply.ts";

/** How long a call may be silent before its response begins. */
export const headersAfterMs = ({ keepAliveMs }: GatewayContext): number => 4 * keepAliveMs;

/** @throws what `work` rejects with, as long as nothing was sent. */
export async function replyInTime(
  gateway: GatewayContext,
  url: string,
  work: Promise<JsonReply>,
  onLeave: () => void,
  headers: MoreHeaders,
): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, headersAfterMs(gateway), null);
  });
  try {
    const reply = await Promise.race([work, late]);
    if (reply) return reply;
  } finally {
    clearTimeout(timer);
  }
  const outcome = work.then(
    ({ text }): EarlyOutcome => ({ text, isWhole: true }),
    (error: unknown): EarlyOutcome => {
      gateway.report(error);
      gateway.metrics.refused(toApiError(error).reason ?? "invalid_request");
      return { text: JSON.stringify(errorBody(error, errorShapeOf(url))), isWhole: false };
    },
  );
  return new EarlyReply(outcome, gateway.keepAliveMs, onLeave, headers);
}
