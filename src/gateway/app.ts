/**
 * The server as a function from Request to Response: routes, who may use them, and errors. Knows
 * nothing of sockets.
 */
import { ApiError, methodNotAllowed, toApiError } from "./http/api-error.ts";
import { requireToken } from "./http/auth.ts";
import { errorResponse, errorShapeOf } from "./http/error-response.ts";
import type { GatewayContext } from "./gateway-context.ts";
import { joinUid, parsePath, type SessionRoute } from "./http/path.ts";
import { toResponse, type Reply } from "./http/reply.ts";
import { handleOwn } from "./routes/admin/routes.ts";
import { listModels, retrieveModel } from "./routes/models.ts";
import { callsModel, findProtocol, offered } from "./routes/protocols.ts";
import { isForeign, localClientsOnly } from "../http/local-clients.ts";
import { deriveSeed } from "../util/random.ts";
import { show } from "./http/json-fields.ts";
import type { CaptureSession } from "./session/session.ts";

function notFound(): ApiError {
  return new ApiError({
    status: 404,
    message: "There is nothing at this URL. Models are served at /sessions/{uid}/v1.",
    reason: "not_found",
  });
}

/** Under a session, whose token the client has. */
function nothingHere(rest: readonly string[]): ApiError {
  const [first, second] = rest;
  if (first === "responses" && second !== undefined) {
    return new ApiError({
      status: 404,
      message:
        "Responses cannot be fetched, listed, cancelled or deleted by their id here. Continue one with previous_response_id; what was captured is at GET /sessions/{uid}/traces, for admins.",
      reason: "not_found",
      retry: false,
    });
  }
  return new ApiError({
    status: 404,
    message: `There is nothing at ${show(rest.join("/"))}. A session offers ${offered}.`,
    reason: "not_found",
    retry: false,
  });
}

/** OpenAI's clients can send responses over a WebSocket, which is a GET to the same path. */
function refuseWebSocket(request: Request): void {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return;
  throw new ApiError({
    status: 426,
    message:
      'Model calls over a WebSocket are not supported: send them over HTTP. With @openai/agents, leave useResponsesWebSocket of OpenAIProvider out, or call setOpenAIResponsesTransport("http").',
    reason: "websocket_unsupported",
    retry: false,
  });
}

function requireMethod(request: Request, allowed: string): void {
  if (request.method !== allowed) throw methodNotAllowed(request, allowed);
}

/** Where no token is required, the first call of a session opens it. */
async function findSession(
  gateway: GatewayContext,
  uid: string,
): Promise<CaptureSession | undefined> {
  const session = gateway.sessions.get(uid);
  if (session && !session.closed) return session;
  if (!gateway.isOpen || session) return undefined;
  await gateway.sessions.open({ uid, seed: deriveSeed(0, uid), sampling: {} });
  return gateway.sessions.get(uid);
}

async function responseSession(
  gateway: GatewayContext,
  route: SessionRoute,
  request: Request,
): Promise<Reply> {
  const open = await findSession(gateway, route.sessionUid);
  const closed = gateway.sessions.closedKey(route.sessionUid);
  if (!gateway.isOpen) requireToken(request, open?.keyDigest, closed);
  if (!open) throw notFound();
  const protocol = findProtocol(route.rest);
  if (protocol) {
    refuseWebSocket(request);
    requireMethod(request, "POST");
    const responding = open.response(async () => {
      const lease = await gateway.bodyBudget.admit(open.uid, request);
      try {
        return await protocol({ gateway, session: open, route, request, lease });
      } finally {
        lease.end();
      }
    });
    if (!callsModel(protocol)) return responding;
    return responding.catch((error: unknown) => {
      open.failedCalls.failed(error, { request: null, trajectoryUid: route.trajectoryUid });
      throw error;
    });
  }
  const [first, second] = route.rest;
  if (first === "models" && route.rest.length <= 2) {
    requireMethod(request, "GET");
    return second === undefined ? listModels(gateway.model) : retrieveModel(gateway.model, second);
  }
  throw nothingHere(route.rest);
}

const maxUrlBytes = 8_192;

function checkUrl(url: string): void {
  if (url.length <= maxUrlBytes) return;
  throw new ApiError({
    status: 414,
    message: `The URL is longer than ${maxUrlBytes} bytes.`,
    reason: "url_too_long",
  });
}

/** Without tokens, any page that a browser shows could send requests. */
export function refuseBrowsers(request: Request): void {
  if (!isForeign(request.url, request.headers.get("origin"))) return;
  throw new ApiError({ status: 403, message: localClientsOnly, reason: "forbidden" });
}

async function answer(gateway: GatewayContext, request: Request): Promise<Reply> {
  checkUrl(request.url);
  if (gateway.isOpen) refuseBrowsers(request);
  const route = parsePath(new URL(request.url).pathname);
  if (route?.kind === "session") return responseSession(gateway, route, request);
  const hasUid = request.method === "GET" || request.method === "DELETE";
  const segments = route && hasUid ? joinUid(route.segments) : route?.segments;
  const response = segments && handleOwn({ gateway, request }, segments);
  if (!response) throw notFound();
  return response;
}

function toParts(reply: Reply): Pick<Response, "body" | "headers" | "status"> {
  const { body, headers, status } = toResponse(reply);
  return { body, headers, status };
}

/** Never rejects: every failure becomes a response. */
export function createApp(gateway: GatewayContext): (request: Request) => Promise<Reply> {
  const { metrics } = gateway;
  const respond = async (request: Request): Promise<Reply> => {
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
  return async (request) => {
    if (request.method !== "HEAD") return respond(request);
    const { url, headers, signal } = request;
    const { body, ...head } = toParts(await respond(new Request(url, { headers, signal })));
    await body?.cancel();
    return new Response(null, head);
  };
}
