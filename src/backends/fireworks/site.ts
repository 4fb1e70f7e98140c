/** Where a run trains: a serverless session, or a dedicated trainer and its deployment. */
import { defined } from "../../util/defined.ts";
import type { Published } from "../datum/published-sampler.ts";
import { findAccount, openSession, type FireworksClient } from "./api/client.ts";
import { resolveSettings } from "./api/client-options.ts";
import { deleteCommand } from "./api/delete-resource.ts";
import { FireworksHttp } from "./api/http.ts";
import type { FireworksSamplingClient } from "./api/sampling-client.ts";
import type { FireworksTrainingClient } from "./api/training-client.ts";
import { promoteCheckpoint } from "./dedicated/promote.ts";
import { provision } from "./dedicated/provision.ts";
import type { FireworksBackendOptions } from "./options.ts";
import { leftResources, ResourceLedger } from "./resource-ledger.ts";

export interface Site {
  readonly client: FireworksClient;
  /** null where the service does not report it. */
  readonly contextLength: number | null;
  readonly usdPerHour: number | null;
  /** Makes samples come from the weights as they are now. */
  publish(
    model: FireworksTrainingClient,
    version: number,
    signal?: AbortSignal,
  ): Promise<Published<FireworksSamplingClient>>;
  /** Makes a model of the account from a snapshot. @returns its resource name */
  promote(snapshot: string, name: string, baseModel: string, signal: AbortSignal): Promise<string>;
  /** Deletes everything. @returns resource names of what may still be there. */
  close(): Promise<readonly string[]>;
}

export interface SiteContext {
  readonly baseModel: string;
  /** 0 trains every weight. */
  readonly loraRank: number;
  readonly runDir: string | null;
  readonly signal: AbortSignal;
  /** Called with what could not be deleted after a failed start. */
  readonly onLeft: (names: readonly string[]) => void;
}

export async function openSite(
  options: FireworksBackendOptions,
  context: SiteContext,
): Promise<Site> {
  const { baseUrl, apiKey, account: given, onWarning, dedicated } = options;
  const settings = resolveSettings({
    ...options.client,
    ...defined({ baseUrl, apiKey, account: given, onWarning }),
  });
  const { runDir } = context;
  if (runDir !== null) warnOfLeft(runDir, settings.onWarning);
  const http = new FireworksHttp(settings);
  const account = settings.account ?? (await findAccount(http));
  const ledger = new ResourceLedger(runDir, settings.baseUrl);
  if (dedicated === undefined) return serverless(http, account, ledger);
  const onProgress = options.onProgress ?? (() => undefined);
  const run = await provision(
    dedicated,
    {
      ...context,
      http,
      account,
      ledger,
      onProgress,
      contextLength: options.contextLength ?? null,
    },
    context.onLeft,
  );
  const { client, usdPerHour, resources, sync, trainerId } = run;
  return {
    client,
    contextLength: run.contextLength,
    usdPerHour,
    async publish(model, version, signal) {
      const path = await model.saveForSampler(`v${version}`, defined({ signal }));
      await sync.load(lastPart(path), signal);
      return { client: client.createSampler(path), version };
    },
    promote: (snapshot, outputModel, baseModel, signal) =>
      promoteCheckpoint(http, {
        account,
        trainerId,
        checkpoint: lastPart(snapshot),
        outputModel,
        baseModel,
        signal,
      }),
    async close() {
      await client.delete();
      const left = await resources.delete();
      onProgress(
        left.length === 0
          ? "The trainer and the deployment are deleted."
          : `Not deleted: ${left.join(", ")}.`,
      );
      return left;
    },
  };
}

async function serverless(
  http: FireworksHttp,
  account: string,
  ledger: ResourceLedger,
): Promise<Site> {
  const client = await openSession({ http, account });
  const resource = { kind: "training session", name: client.sessionName };
  ledger.add(resource);
  return {
    client,
    contextLength: null,
    usdPerHour: null,
    async publish(model, version, signal) {
      const path = await model.saveForSampler(`v${version}`, defined({ signal }));
      return { client: client.createSampler(path), version };
    },
    promote: (snapshot, name, baseModel, signal) =>
      client.promote(snapshot, name, baseModel, { signal }),
    async close() {
      if (!(await client.delete())) return [client.sessionName];
      ledger.remove(resource);
      return [];
    },
  };
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

function warnOfLeft(runDir: string, onWarning: (message: string) => void): void {
  const left = leftResources(runDir);
  if (left.length === 0) return;
  const lines = left.map(({ kind, name, baseUrl }) => `  ${kind}: ${deleteCommand(baseUrl, name)}`);
  const files = [...new Set(left.map(({ file }) => file))];
  onWarning(
    `Earlier runs ended without deleting what they held at Fireworks, which may still cost money. Delete it, then the record (${files.join(", ")}):\n${lines.join("\n")}`,
  );
}
