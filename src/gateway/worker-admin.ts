/** What the admin routes do with HTTP workers. Knows neither routes nor how calls are sent. */

export interface WorkerStatus {
  readonly id: string;
  readonly url: string;
  readonly apiPath: string;
  readonly modelName: string | null;
  readonly weight: number;
  readonly healthy: boolean;
  readonly draining: boolean;
  readonly activeRequests: number;
  /** Of server; absent while it is not known. */
  readonly kind?: string;
}

/** An inference server to add to a running gateway. */
export interface WorkerSpec {
  readonly url: string;
  readonly id?: string;
  readonly apiPath?: string;
  readonly modelName?: string;
  readonly weight?: number;
  readonly apiKey?: string;
  /** Kind of server, as the target names it. */
  readonly kind?: string;
}

/** Inference servers of a running gateway: list, add, remove, drain. */
export interface WorkerAdmin {
  list(): readonly WorkerStatus[];
  /** A URL that is known already gives its worker. */
  add(spec: WorkerSpec): Promise<WorkerStatus> | WorkerStatus;
  /** False when there is none. */
  remove(id: string): Promise<boolean> | boolean;
  /** No new calls; resolves with how many are left after at most `limitMs`. Undefined for no worker. */
  drain(id: string, limitMs: number): Promise<number | undefined>;
}
