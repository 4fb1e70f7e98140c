/** Sessions, capabilities and results. */
import { z } from "zod";
import { Hono } from "hono";
import { outputToJson, sampleToJson } from "../../tinker-api/codec/json-codec.ts";
import type { ForwardBackwardOutput, TinkerSampleOutput } from "../../tinker-api/messages.ts";
import {
  encodeForwardBackwardOutput,
  encodeSampleOutput,
  protoMediaType,
} from "../../tinker-api/codec/proto-codec.ts";
import type { TinkerService } from "../service.ts";
import { bodyText, metadataSchema as metadata, readBody } from "./read-body.ts";
import { retrieveFuture } from "./retrieve-future.ts";

const createSessionBody = z.object({ user_metadata: metadata });

/** Results that may travel as protobuf; others are JSON as they are. */
function isForward(result: unknown): result is ForwardBackwardOutput {
  return typeof result === "object" && result !== null && "outputs" in result;
}

function isSample(result: unknown): result is TinkerSampleOutput {
  return typeof result === "object" && result !== null && "sequences" in result;
}

export function resultToJson(result: unknown): unknown {
  if (isForward(result)) return outputToJson(result);
  return isSample(result) ? sampleToJson(result) : result;
}

function encodeResult(result: unknown, asProto: boolean): Response {
  const proto = (bytes: Uint8Array<ArrayBuffer>): Response =>
    new Response(bytes, { headers: { "content-type": protoMediaType } });
  if (asProto && isForward(result)) return proto(encodeForwardBackwardOutput(result));
  if (asProto && isSample(result)) return proto(encodeSampleOutput(result));
  return Response.json(resultToJson(result));
}

export function serviceRoutes(service: TinkerService, pollMs: number): Hono {
  const app = new Hono();
  app.get("/get_server_capabilities", (c) =>
    c.json({
      supported_models: [
        {
          model_name: service.modelName,
          max_context_length: service.parts.base.limits.contextLength,
          trainable: true,
          sampleable: true,
        },
      ],
    }),
  );
  // Requests of one client come in order, since they are executed in order anyway.
  app.post("/client/config", (c) =>
    c.json({
      pjwt_auth_enabled: false,
      parallel_fwdbwd_chunks: false,
      sample_join_sampling_session: true,
    }),
  );
  app.post("/client/dynamic_config", (c) =>
    c.json({ refresh_interval_sec: 3600, sample_cancel_enabled: true }),
  );
  app.post("/create_session", async (c) => {
    const body = readBody(createSessionBody, bodyText(c));
    const { id } = service.sessions.create(body.user_metadata ?? null);
    return c.json({
      type: "create_session",
      session_id: id,
      info_message: null,
      warning_message: null,
      error_message: null,
    });
  });
  app.post(
    "/retrieve_future",
    retrieveFuture(service, pollMs, (c, result) => {
      const asProto = (c.req.header("accept") ?? "").includes(protoMediaType);
      return encodeResult(result, asProto);
    }),
  );
  return app;
}
