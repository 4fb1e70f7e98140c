/** The capability rows against the backends themselves: what a rule allows is done, what it forbids is not. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SamplerTarget, UpdateMetrics } from "../../../src/core/backend.ts";
import { AgentTrainerError, UnsupportedOptionError } from "../../../src/core/errors.ts";
import { loraTargetsOf } from "../../../src/core/lora.ts";
import {
  defaultOptim,
  klEstimators,
  lossAggregations,
  lossNames,
  type OptimField,
  type OptimSpec,
} from "../../../src/core/loss/loss.ts";
import type { TokenRecord } from "../../../src/core/token-record.ts";
import { defaultSampling } from "../../../src/core/policy.ts";
import { capabilityRules } from "../../../src/trainer/check-capabilities.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { TrainConfig } from "../../../src/config/train-config.ts";
import type { RunLog } from "../../../src/runs/run-log.ts";
import { recordTokens } from "../../../src/trainer/update/token-records.ts";
import { isBackendLoss, lossOf } from "../../../src/trainer/update/update-spec.ts";
import { hasPython } from "../../verl/fake-bridge.ts";
import {
  type Asked,
  askFireworks,
  askLocal,
  askTinker,
  askVerl,
  lossByHand,
  lossesOfBridge,
  newFolder,
  still,
  updateAsAsked,
} from "./asked-backends.ts";

type Set = Readonly<Record<string, unknown>>;

const configOf = (set: Set): TrainConfig =>
  loadConfig({ overrides: { "model.name": "m", "model.lora_rank": 4, ...set } }).config;

/** A question to a backend: whether it does what the configuration asks for. */
interface Question {
  readonly option: string;
  readonly set: Set;
  /** False where it refuses by name; anything else that is not done throws. */
  readonly ask: (asked: Asked, config: TrainConfig) => Promise<boolean>;
  /** @default every backend */
  readonly of?: readonly Asked["name"][];
}

async function unlessRefused(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof UnsupportedOptionError) return false;
    throw error;
  }
}

/** The loss has its formula's value. */
const hasTheLoss: Question["ask"] = (asked, config) =>
  unlessRefused(async () => {
    const metrics = await updateAsAsked(asked, config);
    const expected = await lossByHand(asked, lossOf(config));
    expect(metrics["loss"]).toBeCloseTo(expected, 3);
  });

/** The metric is in the update. */
const measures =
  (metric: string): Question["ask"] =>
  async (asked, config) =>
    Number.isFinite((await updateAsAsked(asked, config))[metric]);

/** A metric that only this option brings. */
const reports =
  (metric: string): Question["ask"] =>
  (asked, config) =>
    unlessRefused(async () => {
      const metrics = await updateAsAsked(asked, config);
      expect(metrics[metric], metric).toBeGreaterThan(0);
    });

/** The tokens before the trained ones are learned from as well. */
const observes: Question["ask"] = (asked, config) =>
  unlessRefused(async () => {
    const rows = asked.rows.map((row) => ({
      ...row,
      observationWeights: Float32Array.from(row.targetMask, (mask, i) =>
        mask || i === 0 ? 0 : 0.5,
      ),
    }));
    const plain = await updateAsAsked(asked, config);
    const observed = await updateAsAsked({ ...asked, rows }, config);
    expect(observed["observation_tokens"]).toBeGreaterThan(0);
    const more = 0.5 * observed["observation_loss"]!;
    expect(observed["loss"]! - plain["loss"]!).toBeCloseTo(more, 3);
  });

/** Of every token, before anything was learned 0. */
const givesValues: Question["ask"] = async ({ backend, rows }) =>
  (await backend.values?.(rows))?.every(
    (own, r) => own.length === rows[r]!.tokens.length && own.every((value) => value === 0),
  ) === true;

/** The penalty is measured, and changes the update. */
const pullsToReference: Question["ask"] = (asked, config) =>
  unlessRefused(async () => {
    const plain = await updateAsAsked(asked, configOf({}));
    const pulled = await updateAsAsked(asked, config);
    expect(Number.isFinite(pulled["kl_reference"])).toBe(true);
    const gradient = ({ grad_norm: norm, loss }: UpdateMetrics) => [norm, loss];
    expect(gradient(pulled)).not.toEqual(gradient(plain));
  });

const knows =
  (which: "current" | "reference"): Question["ask"] =>
  async ({ backend, rows }) => {
    const logprobs = await backend.forward!(rows, which);
    const sum = logprobs.reduce((total, row) => total + row.reduce((a, b) => a + b, 0), 0);
    return Number.isFinite(sum) && sum < 0;
  };

/** What the run writes of each token is what the backend's forward pass has at its place. */
const recordsTokens: Question["ask"] = async ({ backend, rows: bare }, config) => {
  const rows = bare.map((row, r) => {
    const [start, end] = [row.targetMask.indexOf(1), row.targetMask.lastIndexOf(1) + 1];
    return {
      ...row,
      segments: [{ kind: "response" as const, traceId: `t${r}`, weightVersion: 0, start, end }],
    };
  });
  const warnings: string[] = [];
  const records: TokenRecord[] = [];
  const { signal } = new AbortController();
  const journal = {
    tokens: (_step: number, list: readonly TokenRecord[]) => records.push(...list),
  };
  await recordTokens(
    {
      config,
      backend,
      warnOnce: (_key, message) => warnings.push(message),
      journal: journal as unknown as RunLog,
      signal,
    },
    1,
    rows,
  );
  expect(warnings).toEqual([]);
  const logprobs = await backend.forward!(rows, "current");
  const expected = rows.flatMap((row, r) =>
    row.segments
      .filter(({ kind }) => kind === "response")
      .map(({ start, end }) => [...logprobs[r]!.subarray(start, end)]),
  );
  expect(records).toHaveLength(expected.length);
  for (const [i, record] of records.entries()) {
    expect(record.logprobs).toHaveLength(expected[i]!.length);
    for (const [k, value] of record.logprobs.entries())
      expect(value).toBeCloseTo(expected[i]![k]!, 4);
    expect(record.logprobs.every((value) => value < 0)).toBe(true);
    expect(record.entropy !== null).toBe(backend.entropies !== undefined);
    const isMeasured = config.algorithm.klBeta > 0 && backend.capabilities.reference === true;
    expect(record.reference !== null).toBe(isMeasured);
  }
  return records.length > 0;
};

/** What two updates with the option leave is not what they leave without it. */
function steers(field: OptimField, value: number): Question["ask"] {
  return async (asked, config) => {
    const { backend, rows } = asked;
    const folder = newFolder();
    await backend.saveState(folder);
    const trained = async (optim: OptimSpec): Promise<number[]> => {
      await backend.loadState(folder, 0);
      for (let step = 0; step < 2; step++) await updateAsAsked(asked, config, optim);
      return (await backend.forward!(rows, "current")).flatMap((row) => [...row]);
    };
    const usual = { ...defaultOptim, learningRate: 0.01 };
    const first = await trained(usual);
    expect(await trained(usual), "a run that is resumed is the same").toEqual(first);
    const changed = await trained({ ...usual, [field]: value });
    await backend.loadState(folder, 0);
    return changed.some((value_, i) => value_ !== first[i]);
  };
}

/** The likeliest token alone is left. */
const samplesGreedily: Question["ask"] = ({ target }) =>
  unlessRefused(async () => {
    const { sampler } = target as SamplerTarget;
    const sampled = async (minP: number): Promise<number> => {
      const seen = new Set<string>();
      for (let seed = 0; seed < 6; seed++) {
        const params = { ...defaultSampling, minP, maxTokens: 4, stopTokenIds: [], seed };
        const [sample] = await sampler.sample({ tokens: Int32Array.of(40, 41, 42), params });
        seen.add(sample!.tokens.join());
      }
      return seen.size;
    };
    expect(await sampled(0)).toBeGreaterThan(1);
    expect(await sampled(1)).toBe(1);
  });

/** A sample that is asked for during an update comes back. */
const servesWhileTraining: Question["ask"] = async ({ target, backend, rows }) => {
  const { sampler } = target as SamplerTarget;
  const update = backend.updatePolicy(rows, lossOf(configOf({})), still);
  const params = { ...defaultSampling, maxTokens: 4, stopTokenIds: [], seed: 1 };
  const [[sample]] = await Promise.all([
    sampler.sample({ tokens: Int32Array.of(40, 41, 42), params }),
    update,
  ]);
  return sample!.tokens.length > 0;
};

const starts =
  (rank: number, alpha: number): Question["ask"] =>
  (asked) =>
    unlessRefused(() => asked.startWith(rank === 0 ? null : { rank, alpha }));

/** Backends whose model and optimizer are real. */
const real = ["local", "tinker", "fireworks"] as const;
const fakeLosses = ["ppo", "importance_sampling"];
const correction = "algorithm.rollout_correction";

const questions: readonly Question[] = [
  ...lossNames.map((name): Question => ({
    option: "algorithm.loss.type",
    set: { "algorithm.loss": name },
    ask: hasTheLoss,
    ...(fakeLosses.includes(name) ? {} : { of: real }),
  })),
  {
    option: "algorithm.loss_by_role",
    set: { "algorithm.loss_by_role": { agent: "importance_sampling" } },
    ask: async (asked, config) => {
      const same = configOf({ "algorithm.loss": "importance_sampling" });
      const metrics = await updateAsAsked(asked, config);
      expect(metrics["loss"]).toBeCloseTo(await lossByHand(asked, lossOf(same)), 3);
      return true;
    },
  },
  ...lossAggregations.map((mode): Question => ({
    option: "algorithm.aggregation.type",
    set: { "algorithm.aggregation": mode },
    ask: hasTheLoss,
  })),
  {
    option: "algorithm.loss.clip_ratio_c",
    set: { "algorithm.loss.clip_ratio_c": 1.05 },
    ask: async (asked, config) => {
      const without = await lossByHand(asked, lossOf(configOf({})));
      expect(Math.abs((await lossByHand(asked, lossOf(config))) - without)).toBeGreaterThan(1e-2);
      return hasTheLoss(asked, config);
    },
  },
  ...klEstimators.map((estimator): Question => ({
    option: "algorithm.kl_beta",
    set: { "algorithm.kl_beta": 0.5, "algorithm.kl_estimator": estimator },
    ask: pullsToReference,
  })),
  {
    option: "algorithm.entropy_coef",
    set: { "algorithm.entropy_coef": 0.1 },
    ask: reports("entropy"),
  },
  {
    option: "algorithm.estimator.type",
    set: { "algorithm.estimator": "gae" },
    ask: givesValues,
  },
  {
    option: "algorithm.observation_loss",
    set: { "algorithm.observation_loss": { tool: 0.5 } },
    ask: observes,
  },
  {
    option: "distillation.teacher",
    set: { "distillation.teacher": "self", "distillation.hint": "answer" },
    ask: knows("current"),
  },
  {
    option: "algorithm.use_kl_in_reward",
    set: { "algorithm.use_kl_in_reward": true },
    ask: knows("reference"),
  },
  ...[
    { [`${correction}.type`]: "recompute" },
    { [`${correction}.type`]: "token" },
    { [`${correction}.reject`]: ["token_k1=2"] },
    { [`${correction}.rollout_token_veto_threshold`]: 1e-4 },
  ].map((set): Question => ({ option: Object.keys(set)[0]!, set, ask: knows("current") })),
  ...[{ "record.token_rows": -1 }, { "record.token_rows": -1, "algorithm.kl_beta": 0.1 }].map(
    (set): Question => ({ option: "record.token_rows", set, ask: recordsTokens }),
  ),
  // Cross-entropy has no ratios, with any backend: the combination is refused.
  ...lossNames
    .filter((name) => name !== "cross_entropy")
    .flatMap((name): Question[] => {
      const of = fakeLosses.includes(name) ? {} : { of: real };
      const loss = { "algorithm.loss": name };
      return [
        { option: "guards.kl", set: { ...loss, "guards.kl": 1 }, ask: measures("kl_k3"), ...of },
        {
          option: "guards.ratio",
          set: { ...loss, "guards.ratio": 2 },
          ask: measures("ratio_mean"),
          ...of,
        },
      ];
    }),
  {
    option: "guards.grad_norm",
    set: { "guards.grad_norm": 1 },
    // A server of the Tinker API may report it; the service does not.
    of: ["local", "verl"],
    ask: measures("grad_norm"),
  },
  {
    option: "async_training.enable",
    set: { "async_training.enable": true },
    of: real,
    ask: servesWhileTraining,
  },
  { option: "model.lora_rank", set: { "model.lora_rank": 0 }, of: real, ask: starts(0, 32) },
  { option: "model.lora_rank", set: { "model.lora_rank": 4 }, of: real, ask: starts(4, 32) },
  ...(["attention", ["q_proj"]] as const).map((targets): Question => ({
    option: "model.lora_targets",
    set: { "model.lora_targets": targets },
    of: real,
    ask: (asked) =>
      unlessRefused(() => asked.startWith({ rank: 4, alpha: 32, targets: loraTargetsOf(targets) })),
  })),
  { option: "model.lora_alpha", set: { "model.lora_alpha": 16 }, of: real, ask: starts(4, 16) },
  {
    option: "model.adapter_by_role",
    set: { "model.adapter_by_role": { judge: "judge" } },
    of: real,
    ask: (asked) => unlessRefused(() => asked.startWith({ rank: 4, alpha: 32 }, "none", ["judge"])),
  },
  {
    option: "training.learning_rate_by_adapter",
    set: {
      "model.adapter_by_role": { judge: "judge" },
      "training.learning_rate_by_adapter": { judge: 0 },
    },
    of: real,
    ask: (asked) => unlessRefused(() => asked.startWith({ rank: 4, alpha: 32 }, "none", ["judge"])),
  },
  {
    option: "model.quantization",
    set: { "model.quantization": "int8" },
    of: real,
    ask: (asked) => unlessRefused(() => asked.startWith({ rank: 4, alpha: 32 }, "int8")),
  },
  ...["train", "val"].map((phase): Question => ({
    option: `rollout.${phase}.min_p`,
    set: { [`rollout.${phase}.min_p`]: 1 },
    of: real,
    ask: samplesGreedily,
  })),
  ...(["training.lr_schedule.type", "training.lr_schedule.warmup"] as const).map(
    (option): Question => ({
      option,
      set: { [option]: option.endsWith("warmup") ? 3 : "cosine" },
      of: real,
      ask: steers("learningRate", 0.02),
    }),
  ),
  ...(
    [
      ["learning_rate", "learningRate", 0.02],
      ["beta1", "beta1", 0.5],
      ["beta2", "beta2", 0.5],
      ["eps", "eps", 0.01],
      ["weight_decay", "weightDecay", 0.5],
      ["max_grad_norm", "maxGradNorm", 1e-3],
    ] as const
  ).map(([name, field, value]): Question => ({
    option: `training.${name}`,
    set: { [`training.${name}`]: value },
    of: real,
    ask: steers(field, value),
  })),
];

const rules = new Map(capabilityRules.map((rule) => [rule.option, rule]));

it("has a question for every rule that depends on the backend", () => {
  const asked = new Set(questions.map(({ option }) => option));
  expect([...asked].sort()).toEqual([...rules.keys()].sort());
});

it("lists losses of verl that the bridge has", () => {
  expect([...lossesOfBridge()].sort()).toEqual([...lossNames].sort());
});

for (const [name, open] of [
  ["local", askLocal],
  ["tinker", askTinker],
  ["fireworks", askFireworks],
  ["verl", askVerl],
] as const) {
  describe.skipIf(name === "verl" && !hasPython)(`the row of ${name}`, () => {
    let asked: Asked;
    beforeAll(async () => {
      asked = await open();
    });
    afterAll(() => asked[Symbol.asyncDispose]());

    const own = questions.filter(({ of }) => of === undefined || of.includes(name));
    it.each(own.map((question) => [JSON.stringify(question.set), question] as const))(
      "%s is done or refused as the rule says",
      async (_, { option, set, ask }) => {
        const config = configOf(set);
        const isAllowed = rules.get(option)!.supported(asked.backend.capabilities, config);
        expect(await ask(asked, config)).toBe(isAllowed);
      },
      60_000,
    );

    it("has losses of its own where it says so, and refuses the others by name", async () => {
      const names = name === "verl" ? fakeLosses : lossNames;
      for (const loss of names) {
        const config = configOf({ "algorithm.loss": loss });
        const update = asked.backend.updatePolicy(asked.rows, lossOf(config), still);
        if (isBackendLoss(config, asked.backend.capabilities)) await update;
        else await expect(update).rejects.toMatchObject({ code: "OPTION_UNSUPPORTED" });
      }
    });
  });
}

describe("limits on an update", () => {
  it("are looked at before it is applied: weights and moments stay as they were", async () => {
    await using asked = await askLocal();
    const { backend, rows } = asked;
    const loss = lossOf(configOf({}));
    const optim = { ...defaultOptim, learningRate: 0.01 };
    const folder = newFolder();
    await backend.saveState(folder);
    const off = { gradNorm: null, kl: null, ratio: null };
    const { grad_norm: norm = 0, kl_k3: kl = 0 } = await backend.updatePolicy(rows, loss, optim);
    const expected = await backend.forward!(rows, "current");
    await backend.loadState(folder, 0);
    for (const limits of [
      { ...off, gradNorm: norm / 2 },
      { ...off, kl: kl / 2 },
      { ...off, ratio: 1.0001 },
    ]) {
      const refused = backend.updatePolicy(rows, loss, optim, undefined, limits);
      await expect(refused).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
      await expect(refused).rejects.toBeInstanceOf(AgentTrainerError);
    }
    const loose = { gradNorm: norm * 2, kl: kl * 2, ratio: 100 };
    await backend.updatePolicy(rows, loss, optim, undefined, loose);
    expect(await backend.forward!(rows, "current")).toEqual(expected);
  });
});
