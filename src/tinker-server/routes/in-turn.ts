/**
 * A request that is refused takes its turn nevertheless, and fails in it: clients count on, so a number
 * that is missing would hold up everything after it.
 */
import type { Context } from "hono";
import { protoMediaType } from "../../tinker-api/codec/proto-codec.ts";
import { readFields, readString } from "../../tinker-api/codec/protobuf-reader.ts";
import { TinkerWireError } from "../../tinker-api/tinker-error.ts";
import { RequestError } from "../request-error.ts";
import { fingerprintOf } from "../made-once.ts";
import type { LoadedModel } from "../model-table.ts";
import type { TinkerService } from "../service.ts";
import { BodyTooLargeError, bodyBytes, parseLeniently } from "./read-body.ts";

/** Takes a request that runs in its model's order. @returns the response, which names the future. */
export function takeInOrder(
  service: TinkerService,
  c: Context,
  { model_id: id, seq_id: seqId = null }: OrderedBody,
  work: (model: LoadedModel) => unknown,
): Response {
  const fingerprint = fingerprintOf(c.req.path, bodyBytes(c));
  const future = service.inOrder(id, seqId, fingerprint, work);
  return c.json({ request_id: future, model_id: id });
}

export interface OrderedBody {
  readonly model_id: string;
  readonly seq_id?: number | null | undefined;
}

interface Turn {
  readonly modelId: string;
  readonly seqId: number;
}

function checkTurn(modelId: unknown, seqId: unknown): Turn | null {
  const isTurn = typeof modelId === "string" && Number.isSafeInteger(seqId) && Number(seqId) > 0;
  return isTurn ? { modelId, seqId: Number(seqId) } : null;
}

/** These two come first, so that a message that is damaged or cut off further on has them. */
function turnOfProto(bytes: Uint8Array): Turn | null {
  let modelId: string | undefined;
  let seqId: number | undefined;
  try {
    for (const field of readFields(bytes)) {
      if (field.number === 1) modelId = readString(field.bytes);
      else if (field.number === 2) seqId = field.value;
      if (modelId !== undefined && seqId !== undefined) break;
    }
  } catch {
    // As far as it can be read.
  }
  return checkTurn(modelId, seqId);
}

function turnOfJson(text: string): Turn | null {
  const json = parseLeniently(text) as Record<string, unknown> | null;
  if (json !== null && typeof json === "object") return checkTurn(json["model_id"], json["seq_id"]);
  const modelId = /"model_id"\s*:\s*"([^"\\]*)"/u.exec(text)?.[1];
  const seqId = /"seq_id"\s*:\s*(\d{1,15})\b/u.exec(text)?.[1];
  return checkTurn(modelId, seqId === undefined ? undefined : Number(seqId));
}

const refusals = new Set([400, 413, 415, 422]);

function isRefusal(error: unknown): error is Error {
  if (error instanceof RequestError) return refusals.has(error.status);
  return error instanceof TinkerWireError;
}

/**
 * @param handle responds, or refuses by throwing.
 * @param onRefusal runs in the refused request's turn.
 */
export function inTurn(
  service: TinkerService,
  handle: (c: Context) => Response | Promise<Response>,
  onRefusal: (model: LoadedModel, error: Error, future: () => string) => void = () => undefined,
): (c: Context) => Promise<Response> {
  return async (c) => {
    try {
      return await handle(c);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const bytes = error instanceof BodyTooLargeError ? error.ends : bodyBytes(c);
      const isProto = (c.req.header("content-type") ?? "").includes(protoMediaType);
      const turn = isProto ? turnOfProto(bytes) : turnOfJson(new TextDecoder().decode(bytes));
      if (turn === null) throw error;
      const fingerprint = fingerprintOf(c.req.path, bytes);
      const future: string = service.inOrder(turn.modelId, turn.seqId, fingerprint, (model) => {
        onRefusal(model, error, () => future);
        throw error;
      });
      return c.json({ request_id: future, model_id: turn.modelId });
    }
  };
}
