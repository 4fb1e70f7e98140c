/** What the model of a completion means: base weights or a frozen snapshot, and where they are kept. */
import {
  formatPath,
  type CheckpointPath,
} from "../../../src/tinker-server/checkpoints/checkpoint-path.ts";
import { RequestError } from "../../../src/tinker-server/request-error.ts";
import type { SamplerSession } from "../../../src/tinker-server/sampling/sampler-table.ts";
import { checkBaseModel, formatCheckpoint, parseCheckpoint } from "./names.ts";
import type { FireworksParts } from "./parts.ts";
import { findInSession } from "./session-checkpoints.ts";

/** @throws RequestError 400, 404, 410 when its session has ended */
export async function findSampler(parts: FireworksParts, model: string): Promise<SamplerSession> {
  const { service, account } = parts;
  const prefix = `accounts/${account}/`;
  const [kind = "", ...rest] = model.startsWith(prefix)
    ? model.slice(prefix.length).split("/")
    : [];
  if (kind === "trainingSessions") {
    const [sessionId = "", word, ...checkpoint] = rest;
    const session = service.sessions.use(sessionId);
    const path = word === undefined ? null : await pathInSession(parts, sessionId, checkpoint);
    const id = `${sessionId}:sample:${path === null ? "" : formatPath(path)}`;
    const isNew = !session.samplerIds.includes(id);
    const sampler = await service.samplers.make(id, path === null ? null : formatPath(path), null);
    if (isNew) session.samplerIds.push(id);
    return sampler;
  }
  if (kind === "trainingSamplers") {
    const [word, ...checkpoint] = rest;
    if (word === "checkpoints") {
      const path = await snapshot(parts, checkpoint.join("/"));
      return service.samplers.make(`:sample:${formatPath(path)}`, formatPath(path), null);
    }
    checkBaseModel(rest.join("/"), service.modelName);
    return service.samplers.make(":sample:", null, null);
  }
  throw new RequestError(
    404,
    `There is no model "${model.slice(0, 300)}". There are ${prefix}trainingSessions/<session>[/checkpoints/<path>] and ${prefix}trainingSamplers/[checkpoints/]<path>.`,
  );
}

async function pathInSession(
  parts: FireworksParts,
  sessionId: string,
  checkpoint: readonly string[],
): Promise<CheckpointPath> {
  const { service } = parts;
  if (checkpoint.length === 1) return findInSession(service, sessionId, checkpoint[0]!);
  const path = await snapshot(parts, checkpoint.join("/"));
  const run = await service.store.run(path.runId);
  if (run.sessionId === sessionId) return path;
  throw new RequestError(404, `${checkpoint.join("/")} is of another session.`);
}

/** Of a path; what save_weights saved has weights, too. @throws RequestError 404 */
async function snapshot(
  { service, account }: FireworksParts,
  text: string,
): Promise<CheckpointPath> {
  for (const kind of ["sampler_weights", "weights"] as const) {
    const path = parseCheckpoint(account, text, kind);
    if (await service.store.has(path)) return path;
  }
  const shown = formatCheckpoint(account, parseCheckpoint(account, text, "weights"));
  throw new RequestError(404, `There is no checkpoint ${shown}.`);
}
