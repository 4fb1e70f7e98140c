/** Request bodies: JSON objects of bounded size. */
import { ApiError, badRequest } from "./api-error.ts";
import { isJsonObject, type JsonFields } from "./json-fields.ts";

function tooLarge(limit: number): ApiError {
  return new ApiError({
    status: 413,
    message: `The request body is larger than ${limit} bytes.`,
    reason: "request_too_large",
  });
}

async function readStream(body: ReadableStream<Uint8Array>, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString("utf8");
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
}

async function readText(request: Request, limit: number): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared === null) return request.body ? readStream(request.body, limit) : "";
  if (Number(declared) > limit) throw tooLarge(limit);
  // A socket holds the client to its content-length, so the whole body can be read at once.
  const text = await request.text();
  if (text.length > limit) throw tooLarge(limit);
  return text;
}

/** @throws ApiError 413 or 400. */
export async function readJsonObject(request: Request, limit: number): Promise<JsonFields> {
  const text = await readText(request, limit);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "unreadable";
    throw badRequest(undefined, `The request body is not JSON: ${reason}`, "invalid_json");
  }
  if (isJsonObject(value)) return value;
  throw badRequest(undefined, "The request body must be a JSON object.", "invalid_json");
}
