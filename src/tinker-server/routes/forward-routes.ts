/** `forward` and `forward_backward`: the same on the wire of Tinker and on that of Fireworks. */
import { Hono, type Context } from "hono";
import { forwardBackwardFromJson } from "../../tinker-api/codec/json-codec.ts";
import {
  decodeForwardBackwardRequest,
  protoMediaType,
} from "../../tinker-api/codec/proto-codec.ts";
import type { ForwardBackwardRequest } from "../../tinker-api/messages.ts";
import { fingerprintOf } from "../made-once.ts";
import type { LoadedModel } from "../model-table.ts";
import type { TinkerService } from "../service.ts";
import { inTurn } from "./in-turn.ts";
import { bodyBytes, holdBody, parseJson } from "./read-body.ts";
import { zstdDecompressSync } from "./zstd.ts";

export interface ForwardRouteOptions {
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

export function forwardRoutes(
  service: TinkerService,
  { maxBodyBytes, checkTrainable }: ForwardRouteOptions,
): Hono {
  const app = new Hono();
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
  return app;
}
