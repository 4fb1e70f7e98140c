/** What the `verl` backend can be told, with defaults. Knows no configuration of the trainer. */
import type { OptimSpec } from "../../core/loss.ts";
import type { Renderer } from "../../core/policy.ts";

/** How the run samples and trains, as far as verl must be told when it starts. */
export interface VerlRunOptions {
  /** Of the first step; `learningRate` may change later, the others may not. */
  readonly optim: OptimSpec;
  /** Tasks per step, and rollouts of each. */
  readonly batchSize: number;
  readonly groupSize: number;
  readonly temperature: number;
  /** The policy that is trained: that at `temperature`, or that at 1. @default "sampling" */
  readonly logprobTemperature?: "sampling" | "one";
  readonly topP: number;
  readonly topK: number;
  /** Most tokens that one call draws. */
  readonly maxTokens: number;
  /**
   * Whether the distance to the model as it was loaded is asked for. Without LoRA that model is held
   * beside the one that is trained. @default false
   */
  readonly reference?: boolean;
}

/** A bridge that runs already, on a cluster's head node for example. */
export interface VerlAttachment {
  readonly url: string;
  readonly token: string;
}

/** A bridge started as a Ray job, whose machine can be reached from here. */
export interface VerlJob {
  /** URL of Ray's dashboard. */
  readonly dashboard: string;
}

export interface VerlBackendOptions {
  readonly run: VerlRunOptions;
  /** Interpreter with verl. @default "python3" */
  readonly python?: string;
  /** `fake` is a toy policy that shows the protocol; it needs no package. @default "verl" */
  readonly engine?: "verl" | "fake";
  /** Uses this bridge instead of starting one; it is left running. */
  readonly attach?: VerlAttachment;
  /** Starts the bridge as a Ray job; it ends with the backend. */
  readonly job?: VerlJob;
  /** Ray's head, `HOST:6379`. @default RAY_ADDRESS, else a Ray of its own */
  readonly rayAddress?: string;
  /** GPUs of each machine. @default 8 */
  readonly gpusPerNode?: number;
  /** @default 1 */
  readonly nodes?: number;
  /**
   * `colocated`: servers share the GPUs with training and sleep during updates. `disaggregated`: they
   * have GPUs of their own and answer during updates. @default "colocated"
   */
  readonly placement?: "colocated" | "disaggregated";
  /** Disaggregated: GPUs that sample, on each machine that does. @default gpusPerNode */
  readonly inferenceGpusPerNode?: number;
  /** Disaggregated: machines that sample, or parts of machines. @default 1 */
  readonly inferenceNodes?: number;
  /** What samples. @default "vllm" */
  readonly inference?: string;
  /** GPUs that share one copy of the model while sampling. @default 1 */
  readonly tensorParallel?: number;
  /** verl's own options, `key=value` as Hydra takes them. */
  readonly overrides?: readonly string[];
  /** `module.function` that every process calls before it uses verl. */
  readonly setupHook?: string;
  /** Set in the bridge, and so in Ray's workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** The engine's own switches; the fake one has some for tests. */
  readonly engineOptions?: Readonly<Record<string, unknown>>;
  /** @default read from the model's folder */
  readonly renderer?: Renderer;
  /** Longest start, with models loaded and servers up, in milliseconds. @default 1_800_000 */
  readonly startTimeoutMs?: number;
  /** Longest update, exchange of weights or checkpoint. @default 3_600_000 */
  readonly timeoutMs?: number;
  /** What a running operation gets to end when the backend closes. @default 30_000 */
  readonly graceMs?: number;
  /** Told each line that the bridge logs. */
  readonly onLog?: (line: string) => void;
}
