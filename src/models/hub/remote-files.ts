/** What a hub says about a model or a dataset: its commit and files, and each file's size and hash. */
import { readLimited } from "../../util/read-limited.ts";
import { checkFileName } from "./file-name.ts";
import { HubError } from "./hub-error.ts";
import {
  requestHub,
  silenceDeadline,
  unreachable,
  withRetries,
  type HubConnection,
} from "./hub-request.ts";
import type { ModelId } from "./model-id.ts";

/** Room for the names of a million files. */
const maxListBytes = 64 * 2 ** 20;

export interface RemoteModel {
  readonly commit: string;
  readonly files: readonly string[];
}

export interface RemoteFile {
  readonly name: string;
  readonly url: string;
  readonly size: number;
  /** SHA-256 of large files, git's SHA-1 of others; the name of the blob. */
  readonly hash: string;
}

/** @throws HubError */
export function readRemoteModel(
  hub: HubConnection,
  id: ModelId,
  signal: AbortSignal,
): Promise<RemoteModel> {
  const url = `${hub.endpoint}/api/${id.type ?? "model"}s/${id.repository}/revision/${encodeURIComponent(id.revision)}`;
  return withRetries(hub, signal, async () => {
    const silence = silenceDeadline(hub, signal);
    try {
      const response = await requestHub(hub, { url, id, signal: silence.signal });
      const text = await readLimited(response, maxListBytes, () => tooLong(url)).catch(
        (cause: unknown) => {
          throw cause instanceof HubError ? cause : unreachable(hub, url, cause);
        },
      );
      return parseModel(text, url);
    } finally {
      silence.dispose();
    }
  });
}

const tooLong = (url: string): HubError =>
  new HubError({
    reason: "unsupported",
    message: `${url} returned a list of files of more than ${maxListBytes / 2 ** 20} MiB.`,
    hint: "Check that HF_ENDPOINT is a model hub.",
    fields: { url },
  });

function parseModel(text: string, url: string): RemoteModel {
  try {
    const json = JSON.parse(text) as { sha?: unknown; siblings?: unknown };
    const siblings = json.siblings as readonly { rfilename: unknown }[];
    const files = siblings.map(({ rfilename }) => checkFileName(rfilename));
    if (/^[0-9a-f]{40}$/u.test(String(json.sha))) return { commit: String(json.sha), files };
  } catch (error) {
    if (error instanceof HubError) throw error;
    // Reported below.
  }
  throw new HubError({
    reason: "unsupported",
    message: `${url} did not return a commit and its files.`,
    hint: "Check that HF_ENDPOINT is a model hub.",
    fields: { url },
  });
}

/** @throws HubError */
export function readRemoteFile(
  hub: HubConnection,
  id: ModelId,
  commit: string,
  name: string,
  signal: AbortSignal,
): Promise<RemoteFile> {
  const path = name.split("/").map(encodeURIComponent).join("/");
  const url = `${hub.endpoint}/${id.type === "dataset" ? "datasets/" : ""}${id.repository}/resolve/${commit}/${path}`;
  return withRetries(hub, signal, async () => {
    const { headers } = await headOf(hub, id, url, signal);
    const hash = cleanHash(headers.get("x-linked-etag") ?? headers.get("etag"));
    const size = Number(
      headers.get("x-linked-size") ?? headers.get("content-length") ?? Number.NaN,
    );
    if (hash !== null && Number.isSafeInteger(size) && size >= 0) return { name, url, size, hash };
    throw new HubError({
      reason: "unsupported",
      message: `${url} came without a size and a hash, so it could not be checked.`,
      hint: "Check that HF_ENDPOINT is a model hub, and not a proxy that drops headers.",
      fields: { url },
    });
  });
}

/** The headers about a file are those before it is handed over to another host. */
async function headOf(
  hub: HubConnection,
  id: ModelId,
  url: string,
  signal: AbortSignal,
): Promise<Response> {
  for (let at = url, hops = 0; ; hops++) {
    const silence = silenceDeadline(hub, signal);
    const request = { url: at, id, method: "HEAD", redirect: "manual" } as const;
    const response = await requestHub(hub, { ...request, signal: silence.signal }).finally(() =>
      silence.dispose(),
    );
    const location = response.headers.get("location");
    if (location === null || hops === 5) return response;
    const next = new URL(location, at);
    // Renamed models are forwarded within the hub.
    if (next.origin !== new URL(at).origin || response.headers.has("x-linked-etag"))
      return response;
    at = next.href;
  }
}

function cleanHash(etag: string | null): string | null {
  const hash = etag?.replace(/^W\//u, "").replaceAll('"', "") ?? "";
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/u.test(hash) ? hash : null;
}
