/**
 * The server as a function from Request to Response: routes, who may use them, and errors. Knows
 * nothing of sockets.
 */
import { ApiError } from "./api-error.ts";
import { requireToken } from "./auth.ts";
import { errorResponse, errorShapeOf } from "./error-response.ts";
import type { GatewayContext } from "./gateway-context.ts";
import { parsePath, type Route, type SessionRoute } from "./path.ts";
import { deleteSession, listTraces, openSession } from "./routes/admin.ts";
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
): Promise<Response> {
  const session = gateway.sessions.get(route.sessionUid);
  const open = session && !session.closed ? session : undefined;
  requireToken(request, open?.keyDigest);
  if (!open) throw notFound();
  const protocol = findProtocol(route.rest);
  if (protocol) {
    requireMethod(request, "POST");
    return protocol({ gateway, session: open, route, request });
  }
  const [first, second] = route.rest;
  if (first === "models" && route.rest.length <= 2) {
    requireMethod(request, "GET");
    return second === undefined ? listModels(gateway.model) : retrieveModel(gateway.model, second);
  }
  throw notFound();
}

async function answer(gateway: GatewayContext, route: Route, request: Request): Promise<Response> {
  if (route.kind === "session") return answerSession(gateway, route, request);
  if (route.kind === "health") {
    requireMethod(request, "GET");
    return Response.json({ status: "ok" });
  }
  requireToken(request, gateway.adminDigest);
  if (route.kind === "admin-sessions") {
    requireMethod(request, "POST");
    return openSession(gateway, request);
  }
  if (route.kind === "admin-traces") {
    requireMethod(request, "GET");
    return listTraces(gateway, route.sessionUid);
  }
  requireMethod(request, "DELETE");
  return deleteSession(gateway, route.sessionUid);
}

/** Never rejects: every failure becomes a response. */
export function createApp(gateway: GatewayContext): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const route = parsePath(new URL(request.url).pathname);
      if (!route) throw notFound();
      return await answer(gateway, route, request);
    } catch (error) {
      gateway.report(error);
      return errorResponse(error, errorShapeOf(request.url));
    }
  };
}
