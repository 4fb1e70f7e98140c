/** A JSON body, checked. */
import type { z } from "zod";
import { RequestError } from "../request-error.ts";

/** @throws RequestError 422 naming the field. */
export function readBody<T>(schema: z.ZodType<T>, text: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new RequestError(422, "The body is no JSON.");
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new RequestError(422, `${path.join(".") || "body"}: ${message}`);
}
