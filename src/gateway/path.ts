/**
 * URL paths to routes and back. One segment is decoded once and stands for one uid, so nothing that
 * a uid contains can change which route is meant.
 */
import { AgentTrainerError } from "../core/errors.ts";

/** What follows `/v1/` in a session's URL, as decoded segments. */
export interface SessionRoute {
  readonly kind: "session";
  readonly sessionUid: string;
  readonly trajectoryUid: string | null;
  readonly rest: readonly string[];
}

/** One of the gateway's own routes, as decoded segments. */
export interface OwnRoute {
  readonly kind: "own";
  readonly segments: readonly string[];
}

export type Route = OwnRoute | SessionRoute;

const ownRoots = new Set(["health", "metrics", "openapi.json", "sessions", "traces", "admin"]);

// URL parsers swallow empty, "." and ".." segments however they are escaped; these get one "~" more.
const unspeakable = /^~*\.{0,2}$/;

/** One path segment that stands for any string. */
export function encodeSegment(value: string): string {
  try {
    return unspeakable.test(value) ? `~${value}` : encodeURIComponent(value);
  } catch (cause) {
    throw new AgentTrainerError({
      code: "REQUEST_INVALID",
      message: `The uid ${JSON.stringify(value)} has half of a surrogate pair, so no URL can carry it.`,
      hint: "Use well-formed text.",
      cause,
    });
  }
}

function decodeSegment(segment: string): string {
  const value = segment.includes("%") ? decodeURIComponent(segment) : segment;
  return value.startsWith("~") && unspeakable.test(value) ? value.slice(1) : value;
}

/** Path of a session, or of one trajectory in it, ending in `/v1`. */
export function sessionPath(sessionUid: string, trajectoryUid?: string): string {
  const session = `/sessions/${encodeSegment(sessionUid)}`;
  return trajectoryUid === undefined
    ? `${session}/v1`
    : `${session}/trajectories/${encodeSegment(trajectoryUid)}/v1`;
}

/** `null` for a path that means nothing here. */
export function parsePath(pathname: string): Route | null {
  const raw = pathname.split("/");
  if (raw.shift() !== "" || raw.includes("")) return null;
  if (!ownRoots.has(raw[0] as string)) return null;
  try {
    return (
      (raw[0] === "sessions" ? parseSession(raw) : null) ?? {
        kind: "own",
        segments: raw.map(decodeSegment),
      }
    );
  } catch {
    return null;
  }
}

function parseSession(raw: readonly string[]): SessionRoute | null {
  const named = raw[2] === "trajectories" && raw.length > 4;
  const versionAt = named ? 4 : 2;
  if (raw[versionAt] !== "v1") return null;
  return {
    kind: "session",
    sessionUid: decodeSegment(raw[1] as string),
    trajectoryUid: named ? decodeSegment(raw[3] as string) : null,
    rest: raw.slice(versionAt + 1).map(decodeSegment),
  };
}
