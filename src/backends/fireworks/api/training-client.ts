/** A model being trained on Fireworks, with what only this service has: capabilities, normalization, DNS labels as names. */
import type { ChunkLimits } from "../../../tinker-api/chunks.ts";
import type { Datum } from "../../../tinker-api/messages.ts";
import { ModelClient, type AdamParams } from "../../../tinker-api/wire/model-client.ts";
import { defined } from "../../../util/defined.ts";
import type { FireworksCallOptions } from "./client-options.ts";
import type { FireworksHttp } from "./http.ts";
import type { FireworksModelCapabilities } from "./model-capabilities.ts";
import { checkName, nameSuffix } from "./names.ts";

/** What an accumulated gradient is divided by before the optimizer step. */
export type GradientNormalization = "num_loss_tokens" | "num_sequences" | "none";

/** Options of one optimizer step. */
export interface FireworksStepOptions extends FireworksCallOptions {
  /** @default the server's, which is not documented */
  readonly normalization?: GradientNormalization;
}

/** At most 1,024 datums and 5,000,000 bytes, with room for what surrounds the datums. */
const limits: ChunkLimits = { datums: 1024, bytes: 4_990_000 };

/** Trains one model on Fireworks: gradients, optimizer steps, checkpoints, snapshots. */
export class FireworksTrainingClient extends ModelClient {
  /** As the answer to `create_model` says. */
  readonly capabilities: FireworksModelCapabilities;
  #isUnloaded = false;

  /** @internal Use `createModel` of {@link FireworksClient}. */
  constructor(http: FireworksHttp, modelId: string, capabilities: FireworksModelCapabilities) {
    super({ transport: http, modelId, encoding: "json", limits, bytesOf: jsonBytes });
    this.capabilities = capabilities;
  }

  /** Applies the accumulated gradient. @returns what the server measures. */
  override optimStep(
    params: AdamParams,
    { normalization, ...options }: FireworksStepOptions = {},
  ): Promise<Readonly<Record<string, number>>> {
    const fields = defined({ grad_accumulation_normalization: normalization });
    return this.step(params, fields, options);
  }

  /**
   * Keeps the weights to sample from.
   * @param name gets a suffix that makes it unique.
   * @returns `<account>/<run>/<name>`
   */
  async saveForSampler(name: string, options: FireworksCallOptions = {}): Promise<string> {
    const path = `${name}-${nameSuffix()}`;
    checkName(path, "The snapshot");
    const body = { path, checkpoint_type: "base" };
    const saved = this.ordered("save_weights_for_sampler", "SaveWeightsForSampler", body, options);
    return this.transport.field(await saved, "path");
  }

  /**
   * Keeps weights and optimizer, for as long as the session is there; no other session loads them.
   * @returns the checkpoint's path
   */
  async saveState(name: string, options: FireworksCallOptions = {}): Promise<string> {
    checkName(name, "The checkpoint");
    const body = { path: name, overwrite: false };
    const saved = this.ordered("save_weights", "SaveWeights", body, options);
    return this.transport.field(await saved, "path");
  }

  /** Ends the model. */
  async unload(options: FireworksCallOptions = {}): Promise<void> {
    if (this.#isUnloaded) return;
    this.#isUnloaded = true;
    await this.end("Unload model", options);
  }
}

/** Length of the JSON of a datum, rounded up. */
function jsonBytes({ tokens, lossInputs }: Datum): number {
  let bytes = 200 + charactersOf(tokens);
  for (const { data } of Object.values(lossInputs)) bytes += 60 + charactersOf(data);
  return bytes;
}

function charactersOf(values: Int32Array | Float32Array): number {
  let count = 0;
  for (const value of values) count += String(value).length + 1;
  return count;
}
