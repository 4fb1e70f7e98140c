/** Makes a model of the account from a snapshot of a dedicated trainer, and waits until it is there. */
import { DeadlineError } from "../../../core/errors.ts";
import { FireworksError } from "../api/fireworks-error.ts";
import type { Json } from "../../../tinker-api/wire/transport.ts";
import type { FireworksHttp } from "../api/http.ts";
import { checkName } from "../api/names.ts";

interface Promotion {
  readonly account: string;
  readonly trainerId: string;
  /** Name of the snapshot. */
  readonly checkpoint: string;
  readonly outputModel: string;
  readonly baseModel: string;
  readonly signal: AbortSignal;
}

const pollMs = 5_000;
const timeoutMs = 600_000;

/** @returns the model's resource name. @throws FireworksError @throws DeadlineError */
export async function promoteCheckpoint(
  http: FireworksHttp,
  { account, trainerId, checkpoint, outputModel, baseModel, signal }: Promotion,
): Promise<string> {
  checkName(outputModel, "The model");
  const model = `accounts/${account}/models/${outputModel}`;
  const answer = await http.json({
    method: "POST",
    path: `/v1/accounts/${account}/checkpoints/${encodeURIComponent(checkpoint)}:promote`,
    json: {
      output_model: model,
      trainer_job_id: trainerId,
      base_model: baseModel,
      async_promotion: true,
    },
    signal,
  });
  const { operation } = answer;
  if (typeof operation !== "object" || operation === null) return model;
  const name = http.field(operation as Json, "name");
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += pollMs) {
    const { done, error } = await http.json({ method: "GET", path: `/v1/${name}`, signal });
    if (error !== undefined && error !== null)
      throw new FireworksError({
        message: `The snapshot ${checkpoint} did not become a model: ${JSON.stringify(error)}`,
        fields: { checkpoint, error },
      });
    if (done === true) return model;
    await http.sleep(pollMs, signal);
  }
  throw new DeadlineError(`Making a model of the snapshot ${checkpoint}`, timeoutMs);
}
