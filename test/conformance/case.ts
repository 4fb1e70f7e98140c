/** What a conformance case is, and the world it runs in. Knows no client. */
import assert from "node:assert/strict";
import type { RolloutSession } from "../../src/core/session.ts";
import type { Trace } from "../../src/core/trace.ts";
import { createGateway } from "../../src/gateway/index.ts";
import type { ConformanceTarget } from "./targets.ts";
import type { UpstreamCall } from "../../src/testing/index.ts";
import { AdminClient } from "../gateway/admin-client.ts";

export interface World {
  readonly session: RolloutSession;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** What a server behind the gateway was sent; empty without one. */
  readonly sent: readonly UpstreamCall[];
  traces(): Promise<readonly Trace[]>;
}

export interface WorldOptions {
  readonly responses: readonly string[];
  /** Enforced by the session. */
  readonly sampling?: Partial<{ temperature: number; topP: number; maxTokens: number }>;
  readonly contextLength?: number;
  readonly trajectory?: string;
}

export interface ConformanceCase {
  /** Unique. */
  readonly name: string;
  /** Whose conformance it is, for counts. */
  readonly client: string;
  /** Why it cannot run; absent when it can. */
  readonly skip?: string;
  /** Only for targets where this one renders. */
  readonly renders?: ConformanceTarget["renders"];
  run(target: ConformanceTarget): Promise<void>;
}

/** Whether the case says something about this target. */
export function isFor(target: ConformanceTarget, { renders }: ConformanceCase): boolean {
  return renders === undefined || renders === target.renders;
}

/** That of the scripted sampler, for targets that learn it from the gateway. */
async function setWeightVersion(url: string, adminToken: string): Promise<void> {
  await new AdminClient({ url, adminToken }).setWeightVersion(3);
}

/** Runs `work` with a gateway on a real socket and one session. */
export async function withWorld(
  target: ConformanceTarget,
  options: WorldOptions,
  work: (world: World) => Promise<void>,
): Promise<void> {
  const scripted = await target.create(options.responses, options.contextLength ?? 65_536);
  const gateway = createGateway({ target: scripted.target, model: "scripted" });
  try {
    const { url } = await gateway.listen();
    await setWeightVersion(url, gateway.adminToken);
    const { sampling = {} } = options;
    const session = await gateway.sessions.open({ uid: "conformance", seed: 1, sampling });
    const { trajectory } = options;
    const handle = trajectory === undefined ? session : session.trajectory(trajectory);
    const { baseUrl, apiKey } = handle;
    const { sent = [] } = scripted;
    await work({ session, baseUrl, apiKey, sent, traces: () => session.traces() });
  } finally {
    await gateway.close();
    await scripted.close();
  }
}

/** The one at this place; fails the case when there is none. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  assert.ok(item !== undefined, `there is no item ${index} of ${items.length}`);
  return item;
}
