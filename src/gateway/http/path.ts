/**
 * URL paths to routes and back. One segment is decoded once and is one uid, so nothing that
 * a uid contains can change which route is meant.
 */
import { AgentTrainerError } from "../../core/errors.ts";

/** What follows `/v1/` in a session's URL, as decoded segments. */
export interface SessionRoute {
  readonly kind: "session";
  readonly sessionUid: string;
  readonly trajectoryUid: string | null;
  readonly rest: readonly string[];
}

/** One of the gateway's own routes, as decoded segments. */
interface OwnRoute {
  readonly kind: "own";
  readonly segments: readonly string[];
}

export type Route = OwnRoute | SessionRoute;

const ownRoots = new Set(["health", "metrics", "sessions", "traces", "admin"]);

// URL parsers swallow empty, "." and ".." segments however they are escaped; these get one "~" more.
const unspeakable = /^~*\.{0,2}$/;

/** Any string as one path segment. */
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
  // Clients join base URLs and paths with one slash too many; an empty uid is written as "~".
  const raw = pathname.split("/").filter((segment) => segment !== "");
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

/**
 * Clients of other gateways write a uid with slashes as it is: it ends before the first "v1". Whatever uid
 * that makes, its own token has to open it.
 */
function parseSession(raw: readonly string[]): SessionRoute | null {
  const isNamed = raw[2] === "trajectories" && raw[4] === "v1";
  const versionAt = raw[2] !== "v1" && isNamed ? 4 : raw.indexOf("v1", 2);
  if (versionAt === -1) return null;
  const named = versionAt >= 4 && raw[versionAt - 2] === "trajectories";
  const uid = raw.slice(1, named ? versionAt - 2 : versionAt);
  return {
    kind: "session",
    sessionUid: uid.map(decodeSegment).join("/"),
    trajectoryUid: named ? decodeSegment(raw[versionAt - 1] as string) : null,
    rest: raw.slice(versionAt + 1).map(decodeSegment),
  };
}

/** Segments of an own route, those of a session's uid with slashes made one. */
export function joinUid(segments: readonly string[]): readonly string[] {
  const [root, ...rest] = segments;
  if (root !== "sessions" || rest.length < 2) return segments;
  const isTraces = rest.at(-1) === "traces";
  const uid = isTraces ? rest.slice(0, -1) : rest;
  return [root, uid.join("/"), ...(isTraces ? ["traces"] : [])];
}
