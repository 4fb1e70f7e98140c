/** Options of the `verl` backend, with defaults. */
import type { OptimSpec } from "../../core/loss/loss.ts";
import type { Renderer } from "../../core/policy.ts";
import type { PullProgress } from "../../models/hub/pull-files.ts";

/** The options of the run that verl needs when it starts. */
export interface VerlRunOptions {
  /** Optimizer of the first step; `learningRate` may change later, the others may not. */
  readonly optim: OptimSpec;
  /** Tasks per step. */
  readonly batchSize: number;
  /** Rollouts per task (`rollout.n`). */
  readonly groupSize: number;
  /** Sampling temperature (`rollout.train.temperature`). */
  readonly temperature: number;
  /**
   * The policy that is trained: at the sampling `temperature`, or at temperature 1. @default
   * "sampling"
   */
  readonly logprobTemperature?: "sampling" | "one";
  /** Nucleus sampling; 1 is off. */
  readonly topP: number;
  /** Keep the k most likely tokens; 0 is off. */
  readonly topK: number;
  /** Maximum number of tokens that one call samples. */
  readonly maxTokens: number;
  /**
   * Whether the KL divergence to the reference model is needed. Without LoRA, the reference model is
   * kept in memory in addition to the one that is trained.
   * @default false
   */
  readonly reference?: boolean;
  /** Whether a critic is trained as well: another whole model in memory. @default false */
  readonly critic?: boolean;
}

/** A running bridge, on a cluster's head node for example. */
export interface VerlAttachment {
  readonly url: string;
  readonly token: string;
}

/** A bridge started as a Ray job, on a machine that can be reached from here. */
interface VerlJob {
  /** URL of Ray's dashboard. */
  readonly dashboard: string;
}

/** Options of the `verl` backend: the run, where the bridge is, and how the cluster is divided. */
export interface VerlBackendOptions {
  /** What verl has to know of the run before it starts. */
  readonly run: VerlRunOptions;
  /** Python interpreter with verl. @default "python3" */
  readonly python?: string;
  /** Attaches to this bridge instead of starting one; it is left running. */
  readonly attach?: VerlAttachment;
  /** Starts the bridge as a Ray job; it ends with the backend. */
  readonly job?: VerlJob;
  /** Address of Ray's head, `HOST:6379`. @default RAY_ADDRESS, else a new local Ray */
  readonly rayAddress?: string;
  /** GPUs per machine. @default 8 */
  readonly gpusPerNode?: number;
  /** Number of machines. @default 1 */
  readonly nodes?: number;
  /**
   * `colocated`: servers share the GPUs with training and sleep during updates. `disaggregated`: they
   * have separate GPUs and serve during updates.
   * @default "colocated"
   */
  readonly placement?: "colocated" | "disaggregated";
  /** Disaggregated: GPUs for sampling per machine. @default gpusPerNode */
  readonly inferenceGpusPerNode?: number;
  /** Disaggregated: machines for sampling, or parts of machines. @default 1 */
  readonly inferenceNodes?: number;
  /** Inference engine. @default "vllm" */
  readonly inference?: string;
  /** GPUs that share one copy of the model while sampling. @default 1 */
  readonly tensorParallel?: number;
  /** verl's own options, as `key=value` in Hydra's syntax. */
  readonly overrides?: readonly string[];
  /** `module.function` that every process calls before it uses verl. */
  readonly setupHook?: string;
  /** Environment variables of the bridge, and so of Ray's workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further options of the bridge's engine. */
  readonly engineOptions?: Readonly<Record<string, unknown>>;
  /** Renderer of the model. @default read from the model's folder */
  readonly renderer?: Renderer;
  /** Limit for starting, including loading models and servers, in milliseconds. @default 1_800_000 */
  readonly startTimeoutMs?: number;
  /** Limit for an update, weight sync or checkpoint, in milliseconds. @default 3_600_000 */
  readonly timeoutMs?: number;
  /**
   * How long a running operation may take to end when the backend closes, in milliseconds. @default
   * 30_000
   */
  readonly graceMs?: number;
  /** Called with each line that the bridge logs. @default appends it to `verl.log` in the run folder */
  readonly onLog?: (line: string) => void;
  /** Called with what the start is doing, as sentences. */
  readonly onProgress?: (message: string) => void;
  /** Called with the progress of downloading a model from a hub. */
  readonly onPull?: (progress: PullProgress) => void;
}
