/** Servers that do something else than ours, played by ours with requests and results changed on the way. */
import type { Fetch } from "./local-server.ts";

/** Every snapshot is that of the newest weights: as a server that samples from the adapter being trained. */
export function liveSnapshots(fetch: Fetch): Fetch {
  let newest: string | undefined;
  let nextSeqId = 1_000_000;
  return async (input, init) => {
    if (input.endsWith("/asample") && newest !== undefined) {
      const body = JSON.parse(String(init.body)) as Record<string, unknown>;
      // Under a number of its own, since two samplers share what was one's.
      const changed = { ...body, sampling_session_id: newest, seq_id: nextSeqId++ };
      return fetch(input, { ...init, body: JSON.stringify(changed) });
    }
    const response = await fetch(input, init);
    if (!input.endsWith("/retrieve_future") || isProto(response)) return response;
    const json = (await response.clone().json()) as { sampling_session_id?: string | null };
    newest = json.sampling_session_id ?? newest;
    return response;
  };
}

const isProto = ({ headers }: Response): boolean =>
  (headers.get("content-type") ?? "").includes("protobuf");
