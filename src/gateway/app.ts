/**
 * The server as a function from Request to Response: routes, who may use them, and errors. Knows
 * nothing of sockets.
 */
import { ApiError, toApiError } from "./api-error.ts";
import { requireToken } from "./auth.ts";
import { errorResponse, errorShapeOf } from "./error-response.ts";
import type { GatewayContext } from "./gateway-context.ts";
import { parsePath, type SessionRoute } from "./path.ts";
import type { Reply } from "./reply.ts";
import { answerOwn } from "./routes/admin/routes.ts";
import { listModels, retrieveModel } from "./routes/models.ts";
import { findProtocol } from "./routes/protocols.ts";

function notFound(): ApiError {
  return new ApiError({
    status: 404,
    message: "There is nothing at this URL. Models answer at /sessions/{uid}/v1.",
    reason: "not_found",
  });
}

function requireMethod(request: Request, allowed: string): void {
  if (request.method === allowed) return;
  throw new ApiError({
    status: 405,
    message: `This URL answers to ${allowed}, not to ${request.method}.`,
    reason: "method_not_allowed",
  });
}

async function answerSession(
  gateway: GatewayContext,
  route: SessionRoute,
  request: Request,
): Promise<Reply> {
  const session = gateway.sessions.get(route.sessionUid);
  const open = session && !session.closed ? session : undefined;
  requireToken(request, open?.keyDigest);
  if (!open) throw notFound();
  const protocol = findProtocol(route.rest);
  if (protocol) {
    requireMethod(request, "POST");
    return open.answer(() => protocol({ gateway, session: open, route, request }));
  }
  const [first, second] = route.rest;
  if (first === "models" && route.rest.length <= 2) {
    requireMethod(request, "GET");
    return second === undefined ? listModels(gateway.model) : retrieveModel(gateway.model, second);
  }
  throw notFound();
}

function checkUrl(url: string, limit: number): void {
  if (url.length <= limit) return;
  throw new ApiError({
    status: 414,
    message: `The URL is longer than ${limit} bytes.`,
    reason: "url_too_long",
  });
}

async function answer(gateway: GatewayContext, request: Request): Promise<Reply> {
  checkUrl(request.url, gateway.maxUrlBytes);
  const route = parsePath(new URL(request.url).pathname);
  if (route?.kind === "session") return answerSession(gateway, route, request);
  const response = route && answerOwn({ gateway, request }, route.segments);
  if (!response) throw notFound();
  return response;
}

/** Never rejects: every failure becomes a response. */
export function createApp(gateway: GatewayContext): (request: Request) => Promise<Reply> {
  const { metrics } = gateway;
  return async (request) => {
    try {
      const reply = await answer(gateway, request);
      metrics.responded(reply instanceof Response ? reply.status : 200);
      return reply;
    } catch (error) {
      gateway.report(error);
      const { status, reason } = toApiError(error);
      metrics.responded(status);
      metrics.refused(reason ?? "invalid_request");
      return errorResponse(error, errorShapeOf(request.url));
    }
  };
}
