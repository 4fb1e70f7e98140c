/** A call as it went over HTTP: what the gateway captured of it, and both bodies where the run kept them. */
import { existsSync } from "node:fs";
import type { Episode } from "../../core/trajectory.ts";
import { exchangeFile, exchangeFolder, exchangeKey } from "../../runs/exchange-log.ts";
import type { CallHttp, HttpBodies } from "../api/conversation.ts";
import { findLine } from "../index/file-lines.ts";

const isBody = (value: unknown): value is HttpBodies["request"] => {
  const { text, length } = (value ?? {}) as Partial<HttpBodies["request"]>;
  return typeof text === "string" && typeof length === "number";
};

function parseBodies(line: string): HttpBodies | null {
  try {
    const { path, headers, request, reply } = JSON.parse(line) as Partial<HttpBodies>;
    if (typeof path !== "string" || !isBody(request) || !isBody(reply)) return null;
    return { path, headers: headers ?? {}, request, reply };
  } catch {
    return null;
  }
}

function readBodies(folder: string, session: string, response: string): HttpBodies | null {
  const files = (["none", "gzip"] as const).map((kind) => exchangeFile(folder, session, kind));
  const line = findLine(files, exchangeKey({ session, response }));
  return line === null ? null : parseBodies(line);
}

/** Null where the episode has no call `k`. */
export function callHttp(folder: string, episode: Episode, k: number): CallHttp | null {
  const trace = episode.trajectories.flatMap(({ steps }) => steps)[k]?.trace;
  if (trace === undefined) return null;
  const { protocol, model, sampling, tools, serverFields, worker, responseId, sessionUid } = trace;
  const isKept = existsSync(exchangeFolder(folder));
  return {
    captured: {
      protocol,
      model,
      responseId,
      messages: trace.messages.length,
      sampling,
      tools: tools ?? [],
      ...(serverFields === undefined ? {} : { serverFields }),
      ...(worker === undefined ? {} : { worker }),
    },
    bodies: isKept ? readBodies(folder, sessionUid, responseId) : null,
    note: isKept
      ? "The run keeps bodies, but has none of this call: it came before record.http_body_kb was set, or the disk was too slow."
      : "The run keeps no HTTP bodies: set record.http_body_kb. What the gateway captured of the request is below.",
  };
}
