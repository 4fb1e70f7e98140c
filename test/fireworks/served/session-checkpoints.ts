/** Checkpoints under the name of their session, `<run>.<name>`; they outlive it. */
import type { Checkpoint } from "../../../src/tinker-server/checkpoints/checkpoint-store.ts";
import { RequestError } from "../../../src/tinker-server/request-error.ts";
import type { TinkerService } from "../../../src/tinker-server/service.ts";
import { runOf } from "./names.ts";

export function idInSession({ runId, name }: Checkpoint): string {
  return `${runOf(runId)}.${name}`;
}

/** Oldest first. @throws RequestError 404 */
export async function checkpointsOfSession(
  service: TinkerService,
  sessionId: string,
): Promise<readonly Checkpoint[]> {
  const runs = (await service.store.runs()).filter((run) => run.sessionId === sessionId);
  if (runs.length === 0) service.sessions.find(sessionId);
  const all = await Promise.all(runs.map(({ id }) => service.store.checkpointsOf(id)));
  return all.flat().toSorted((a, b) => a.time.localeCompare(b.time));
}

/**
 * Snapshots before states of the same name.
 * @param id as listed, or the name alone where only one run has it.
 * @throws RequestError 404
 */
export async function findInSession(
  service: TinkerService,
  sessionId: string,
  id: string,
): Promise<Checkpoint> {
  const all = await checkpointsOfSession(service, sessionId);
  const found = all.filter((one) => idInSession(one) === id || one.name === id);
  const runs = new Set(found.map(({ runId }) => runId));
  if (found.length === 0)
    throw new RequestError(404, `Session "${sessionId}" has no checkpoint "${id}".`);
  if (runs.size > 1)
    throw new RequestError(400, `Several runs have a checkpoint "${id}". Name it <run>.<name>.`);
  return found.find(({ kind }) => kind === "sampler_weights") ?? found[0]!;
}
