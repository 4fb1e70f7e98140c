/** What every route of the gateway itself gets, and how it reads its query. */
import { badRequest } from "../../http/api-error.ts";
import type { GatewayContext } from "../../gateway-context.ts";
import { readNumber, type NumberBounds } from "../../http/json-fields.ts";

export interface OwnContext {
  readonly gateway: GatewayContext;
  readonly request: Request;
  /** What the pattern's `*` stood for. */
  readonly params: readonly string[];
}

export type OwnHandler = (context: OwnContext) => Promise<Response> | Response;

/** @throws ApiError 400 naming the parameter. */
export function readQueryNumber(
  request: Request,
  name: string,
  bounds: NumberBounds,
): number | undefined {
  const text = new URL(request.url).searchParams.get(name);
  if (text === null || text === "") return undefined;
  const value = Number(text);
  if (Number.isNaN(value)) throw badRequest(name, `${name} must be a number.`);
  return readNumber({ [name]: value }, name, bounds);
}

export const sinceBounds: NumberBounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
export const limitBounds: NumberBounds = { min: 1, max: 1_000_000, integer: true };
export const cursorBounds: NumberBounds = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true };
