/** Options of a trainer and a deployment that are created for one run. */

/** A dedicated trainer with its deployment, created at the start of a run and deleted at its end. */
export interface DedicatedOptions {
  /** Resource name: `accounts/fireworks/trainingShapes/...`; a version may be pinned. */
  readonly trainingShape: string;
  /** @default 1 */
  readonly trainerReplicas?: number;
  /** Copies of the model that sample. @default 1 */
  readonly deploymentReplicas?: number;
  /** @default the service's choice */
  readonly region?: string;
  /** Limit on waiting for hardware, in milliseconds. @default 172_800_000, two days */
  readonly capacityTimeoutMs?: number;
  /** Limit on starting once there is hardware, in milliseconds. @default 3_600_000 */
  readonly readyTimeoutMs?: number;
  /** Limit on loading new weights into the deployment, in milliseconds. @default 600_000 */
  readonly weightSyncTimeoutMs?: number;
  /** After so many seconds without a request, the service ends the trainer. @default 3600 */
  readonly inactivityS?: number;
  /** USD per hour of one accelerator. @default the published price of its kind */
  readonly gpuHourUsd?: number;
  /** Whether hardware without a known price is refused. @default false */
  readonly requiresPrice?: boolean;
}
