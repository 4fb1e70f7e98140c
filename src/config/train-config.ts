/**
 * A run's options as code reads them. The YAML keys are the same in snake_case; what each one means,
 * its default and its bounds stand in `schema/`.
 */
import type {
  AlgorithmOptions,
  CompactFilteringOptions,
  StepwiseAdvantageOptions,
} from "./algorithm-options.ts";
import type { ScheduleName } from "../algorithms/schedule.ts";

/** How tokens are drawn in rollouts; wins over what the agent sends. */
export interface RolloutSampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly maxTokens: number;
}

/** Every option of a run, resolved and checked. Made by `loadConfig` or `buildTrainConfig`. */
export interface TrainConfig {
  readonly model: {
    readonly name: string;
    readonly loraRank: number;
    readonly loraAlpha: number;
  };
  readonly data: {
    readonly trainBatchSize: number;
    readonly valBatchSize: number;
    readonly maxPromptLength: number | null;
    readonly seed: number | null;
    readonly curriculum: "none" | "easy_first" | "hard_first";
    readonly difficultyKey: string;
  };
  readonly rollout: {
    readonly n: number;
    readonly nVal: number;
    readonly untrainedRoles: readonly string[];
    readonly rewardSource: "evaluator" | "rollout";
    readonly solvedReward: number | null;
    readonly failureReward: number;
    readonly retryAgentErrors: boolean;
    readonly train: RolloutSampling;
    readonly val: RolloutSampling;
  };
  readonly algorithm: AlgorithmOptions;
  readonly stepwiseAdvantage: StepwiseAdvantageOptions;
  readonly compactFiltering: CompactFilteringOptions;
  readonly training: {
    readonly learningRate: number;
    readonly lrSchedule: ScheduleName;
    readonly warmupSteps: number;
    readonly warmupStepsRatio: number;
    readonly minLrRatio: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly eps: number;
    readonly weightDecay: number;
    readonly maxGradNorm: number;
    readonly numMinibatches: number;
    readonly ppoEpochs: number;
  };
  readonly guards: {
    readonly onNonFinite: "raise" | "skip";
    readonly maxSkippedUpdates: number;
    readonly gradNorm: number | null;
    readonly kl: number | null;
    readonly ratio: number | null;
    readonly action: "warn" | "end_step" | "stop";
  };
  readonly rejectionSample: {
    readonly enable: boolean;
    readonly multiplier: number;
    readonly minPartialSolveTasks: number | null;
    readonly minTrajsPerGroup: number;
    readonly maxBatches: number;
  };
  readonly replay: {
    readonly tasks: number;
    readonly maxAge: number;
    readonly capacity: number;
  };
  readonly asyncTraining: {
    readonly enable: boolean;
    readonly miniBatchSize: number | null;
    readonly stalenessThreshold: number;
    readonly triggerParameterSyncStep: number;
    readonly partialRollout: boolean;
  };
  readonly trainer: {
    readonly totalEpochs: number;
    readonly totalBatches: number;
    readonly testFreq: number;
    readonly valBeforeTrain: boolean;
    readonly valOnly: boolean;
    readonly saveFreq: number;
    readonly seed: number;
    readonly projectName: string;
    readonly experimentName: string | null;
    readonly outputDir: string;
    readonly maxFailedShare: number;
    readonly keepCheckpoints: number;
    readonly keepBest: boolean;
    readonly bestMetric: string;
  };
  readonly workflow: {
    readonly nParallelTasks: number;
    readonly retryLimit: number;
    readonly timeoutS: number;
    readonly setupTimeoutS: number;
    readonly callTimeoutS: number;
    readonly evaluatorTimeoutS: number;
    readonly teardownTimeoutS: number;
  };
  readonly backend: string;
  readonly local: {
    readonly threads: number | null;
    readonly provider: "cpu" | "webgpu" | "cuda" | "coreml" | "dml";
    readonly trainingMemoryMib: number;
    readonly cacheMemoryMib: number | null;
    readonly samplingPrecision: "float32" | "int8";
    readonly momentPrecision: "float32" | "bfloat16";
  };
  readonly tinkerBaseUrl: string | null;
  readonly tinker: {
    readonly tokenizer: string | null;
    readonly contextLength: number | null;
    readonly checkpointTtlS: number | null;
  };
  readonly verl: {
    readonly python: string | null;
    readonly launcher: "process" | "job" | "attach";
    readonly engine: "verl" | "fake";
    readonly url: string | null;
    readonly rayAddress: string | null;
    readonly gpusPerNode: number;
    readonly nodes: number;
    readonly placement: "colocated" | "disaggregated";
    readonly inferenceGpusPerNode: number | null;
    readonly inferenceNodes: number;
    readonly inference: string;
    readonly tensorParallel: number;
    readonly setupHook: string | null;
    readonly startTimeoutS: number;
    readonly timeoutS: number;
    readonly config: readonly string[];
  };
  readonly agent: string | null;
  readonly evaluator: string | null;
  readonly dataset: {
    readonly train: string | null;
    readonly val: string | null;
  };
}
