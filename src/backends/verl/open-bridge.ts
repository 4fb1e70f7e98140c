/** Opens a bridge: starts one here or as a Ray job, or attaches to a running one. */
import { defined } from "../../util/defined.ts";
import { type OpenBridge, BridgeClient, bridgeProtocol } from "./bridge-client.ts";
import { startBridge } from "./bridge-process.ts";
import { openJobBridge } from "./job-bridge.ts";
import type { VerlBackendOptions } from "./verl-options.ts";
import { VerlError } from "./verl-error.ts";

const processStartMs = 60_000;

async function attach({
  url,
  token,
}: NonNullable<VerlBackendOptions["attach"]>): Promise<OpenBridge> {
  const client = new BridgeClient({ url: url.replace(/\/+$/u, ""), token });
  const { protocol } = (await client.get("/info")) as { protocol?: number };
  if (protocol !== bridgeProtocol) {
    throw new VerlError({
      reason: "version",
      message: `The bridge at ${url} speaks protocol ${protocol ?? "unknown"}, but this package speaks ${bridgeProtocol}.`,
      hint: "Start the bridge of this version of agent-trainer there.",
      fields: { url, protocol },
    });
  }
  return { client, pid: null, [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** @throws VerlError */
export async function openBridge(
  options: VerlBackendOptions,
  signal: AbortSignal,
): Promise<OpenBridge> {
  const { attach: attachment, python = "python3" } = options;
  if (attachment !== undefined) return attach(attachment);
  const { env, graceMs = 30_000, onLog, job } = options;
  if (job !== undefined) {
    return openJobBridge({
      dashboard: job.dashboard,
      env: env ?? {},
      startMs: options.startTimeoutMs ?? 1_800_000,
      graceMs,
      signal,
      onLog: onLog ?? (() => undefined),
    });
  }
  const child = await startBridge({
    python,
    startMs: processStartMs,
    graceMs,
    signal,
    ...defined({ env, onLog }),
  });
  return {
    client: new BridgeClient(child.address, { lost: child.lost }),
    pid: child.pid,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
