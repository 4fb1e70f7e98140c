/** Sessions, capabilities and results. */
import { z } from "zod";
import { Hono } from "hono";
import { outputToJson, sampleToJson } from "../../tinker-api/json-codec.ts";
import type { ForwardBackwardOutput, SampleOutput } from "../../tinker-api/messages.ts";
import {
  encodeForwardBackwardOutput,
  encodeSampleOutput,
  protoMediaType,
} from "../../tinker-api/proto-codec.ts";
import type { TinkerService } from "../service.ts";
import { RequestError } from "../request-error.ts";
import { bodyText, metadataSchema as metadata, readBody } from "./read-body.ts";

const createSessionBody = z.object({ user_metadata: metadata });

const sessionBody = z.object({ session_id: z.string() });

const retrieveBody = z.object({
  request_id: z.string(),
  allow_metadata_only: z.boolean().nullish(),
});

/** Results that may travel as protobuf; others are JSON as they are. */
function isForward(result: unknown): result is ForwardBackwardOutput {
  return typeof result === "object" && result !== null && "outputs" in result;
}

function isSample(result: unknown): result is SampleOutput {
  return typeof result === "object" && result !== null && "sequences" in result;
}

function encodeResult(result: unknown, asProto: boolean): Response {
  const proto = (bytes: Uint8Array<ArrayBuffer>): Response =>
    new Response(bytes, { headers: { "content-type": protoMediaType } });
  if (isForward(result))
    return asProto
      ? proto(encodeForwardBackwardOutput(result))
      : Response.json(outputToJson(result));
  if (isSample(result))
    return asProto ? proto(encodeSampleOutput(result)) : Response.json(sampleToJson(result));
  return Response.json(result);
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
  app.post("/telemetry", (c) => c.json({ status: "accepted" }));
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
  app.post("/session_heartbeat", async (c) => {
    service.sessions.use(readBody(sessionBody, bodyText(c)).session_id);
    return c.json({ type: "session_heartbeat" });
  });
  app.post("/retrieve_future", async (c) => {
    const { request_id: id } = readBody(retrieveBody, bodyText(c));
    service.sessions.touch(service.futures.ownerOf(id) ?? "");
    const outcome = await service.futures.wait(id, pollMs);
    if (outcome === null)
      throw new RequestError(410, `The result of request ${id} is gone, or never was.`);
    if (outcome === "pending")
      return c.json({ type: "try_again", request_id: id, queue_state: "active" });
    if (outcome.kind === "failed")
      return c.json({ error: outcome.message, category: outcome.category });
    const asProto = (c.req.header("accept") ?? "").includes(protoMediaType);
    return encodeResult(outcome.result, asProto);
  });
  return app;
}
