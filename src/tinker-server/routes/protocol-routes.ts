/** Routes that are the same on the wire of Tinker and on that of Fireworks. */
import * as zlib from "node:zlib";
import { Hono, type Context } from "hono";
import { z } from "zod";
import { forwardBackwardFromJson } from "../../tinker-api/codec/json-codec.ts";
import {
  decodeForwardBackwardRequest,
  protoMediaType,
} from "../../tinker-api/codec/proto-codec.ts";
import type { ForwardBackwardRequest } from "../../tinker-api/messages.ts";
import { fingerprintOf } from "../made-once.ts";
import type { LoadedModel } from "../model-table.ts";
import { RequestError } from "../request-error.ts";
import type { TinkerService } from "../service.ts";
import { inTurn } from "./in-turn.ts";
import { bodyBytes, bodyText, holdBody, parseJson, readBody } from "./read-body.ts";

/** Where this Node has it (from 22.15). */
const { zstdDecompressSync: decompress } = zlib as {
  zstdDecompressSync?: (
    bytes: Uint8Array,
    options: { readonly maxOutputLength: number },
  ) => Uint8Array;
};

/** @throws RequestError 413 when it unpacks to more, 415, 422 */
function zstdDecompressSync(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (decompress === undefined)
    throw new RequestError(415, "This server cannot read zstd; send the body as it is.");
  try {
    return decompress(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new RequestError(413, `The body unpacks to more than ${maxBytes} bytes.`);
    throw new RequestError(422, "The body is no zstd, though its Content-Encoding says so.");
  }
}

export interface ProtocolRouteOptions {
  /** Of a body, once it is unpacked. */
  readonly maxBodyBytes: number;
  /** Refuses gradients of a model by throwing. @default every model has some */
  readonly checkTrainable?: (model: LoadedModel) => void;
}

function readForwardBackward(
  c: Context,
  forwardOnly: boolean,
  maxBytes: number,
): { request: ForwardBackwardRequest; fingerprint: string } {
  const raw = bodyBytes(c);
  const isPacked = c.req.header("content-encoding") === "zstd";
  const bytes = isPacked ? zstdDecompressSync(raw, maxBytes) : raw;
  const isProto = (c.req.header("content-type") ?? "").includes(protoMediaType);
  const request = isProto
    ? decodeForwardBackwardRequest(bytes)
    : forwardBackwardFromJson(parseJson(new TextDecoder().decode(bytes)), forwardOnly);
  return { request, fingerprint: fingerprintOf(c.req.path, bytes) };
}

const sessionBody = z.object({ session_id: z.string() });

const modelBody = z.object({ model_id: z.string() });

export function protocolRoutes(
  service: TinkerService,
  { maxBodyBytes, checkTrainable }: ProtocolRouteOptions,
): Hono {
  const app = new Hono();
  app.post("/telemetry", (c) => c.json({ status: "accepted" }));
  app.post("/session_heartbeat", (c) => {
    service.sessions.use(readBody(sessionBody, bodyText(c)).session_id);
    return c.json({ type: "session_heartbeat" });
  });
  const forward = (c: Context, forwardOnly: boolean): Response => {
    const { request, fingerprint } = readForwardBackward(c, forwardOnly, maxBodyBytes);
    if (!forwardOnly) checkTrainable?.(service.model(request.modelId));
    const future = service.forwardBackward(request, fingerprint);
    holdBody(c, service.futures.settled(future));
    return c.json({ request_id: future, model_id: request.modelId });
  };
  const refuse: Parameters<typeof inTurn>[2] = (model, error, future) =>
    service.refuseStep(model, error, future);
  app.post(
    "/forward_backward",
    inTurn(service, (c) => forward(c, false), refuse),
  );
  app.post(
    "/forward",
    inTurn(service, (c) => forward(c, true)),
  );
  app.post("/unload_model", (c) => {
    const { model_id: id } = readBody(modelBody, bodyText(c));
    const future = service.inOrder(id, null, "", () => {
      service.unload(id);
      return { type: "unload_model", model_id: id };
    });
    return c.json({ request_id: future, model_id: id });
  });
  return app;
}
