/** What error messages advise to change must be accepted when the run is resumed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configFields } from "../../src/config/fields.ts";
import { freeOptions } from "../../src/runs/run-identity.ts";
import { readPage, root, tableRows } from "./pages.ts";

/** Advice that only a run without a checkpoint can hear: the configuration is refused at start. */
const atStartOnly: Readonly<Record<string, readonly string[]>> = {
  // What a person changes for the next run.
  "view/health/find-problems.ts": ["rollout.n", "rollout.train.max_tokens"],
  "backends/fireworks/dedicated/provision.ts": ["model.lora_rank"],
  "engine/decoder/policy.ts": ["model.lora_rank", "model.quantization"],
  // Advice for the next run: resumed, a run would need --allow-changes for these.
  "core/health.ts": [
    "rollout.n",
    "rollout.train.max_tokens",
    "algorithm.kl_beta",
    "algorithm.entropy_coef",
    "algorithm.rollout_correction.type",
    "async_training.staleness_threshold",
  ],
  "launch/finetune/check-fine-tuning.ts": ["fine_tuning.val_fraction"],
  "launch/finetune/examples/episode-examples.ts": [
    "fine_tuning.from_run",
    "fine_tuning.min_reward",
  ],
  "launch/teacher/create-teacher.ts": [
    "rollout.train.temperature",
    "algorithm.logprob_temperature",
  ],
  "trainer/check-scoring.ts": ["rollout.n"],
  "datasets/tasks/read-tasks.ts": ["dataset.limit"],
  "runs/batches.ts": ["data.curriculum.difficulty_key"],
  "config/checks/combinations.ts": [
    "algorithm.rollout_correction.reject",
    "stepwise_advantage.enable",
    "stepwise_advantage.mode",
    "stepwise_advantage.normalize_by_steps",
    "stepwise_advantage.gamma",
    "algorithm.estimator.gamma",
    "async_training.enable",
    "rejection_sample.enable",
    "rollout.n",
    "rollout.untrained_roles",
    "model.lora_rank",
    "model.adapter_by_role",
  ],
  "config/checks/start-warnings.ts": [
    "rollout.n",
    "algorithm.estimator",
    "algorithm.kl_beta",
    "algorithm.kl_estimator",
    "algorithm.use_kl_in_reward",
  ],
  // Warnings of the first start, which a resumed run repeats.
  "trainer/update/warnings.ts": ["algorithm.logprob_temperature"],
  "rollouts/service/agent-warnings.ts": ["rollout.reward_source", "stepwise_advantage.mode"],
  "engine/model/policy-model.ts": ["model.lora_rank", "model.quantization"],
  // What a server cannot do, found out before the first update; on resume with --allow-changes.
  "backends/tinker/model-backend.ts": [
    "model.name",
    "algorithm.loss.eps_clip",
    "algorithm.loss.eps_clip_high",
  ],
  "backends/datum/datums.ts": ["algorithm.aggregation.type", "algorithm.loss.type"],
};

/** Options that messages name in words. */
const inWords: readonly (readonly [RegExp, readonly string[]])[] = [
  [/learning rate/u, ["training.learning_rate"]],
  [/updates per step/u, ["training.ppo_epochs", "training.num_minibatches"]],
];

const advises =
  /\b(?:raise|lower|set|choose|use|leave|increase|reduce|turn|shorten|name another)\b/iu;
const literals = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gu;
const keys = configFields().flatMap(({ key }) => (key.includes(".") ? [key] : []));

function namedOptions(text: string): readonly string[] {
  const dotted = keys.filter((key) =>
    new RegExp(`(?<![\\w.])${key.replaceAll(".", "\\.")}(?!\\w|\\.\\w)`, "u").test(text),
  );
  return [...dotted, ...inWords.flatMap(([words, options]) => (words.test(text) ? options : []))];
}

interface Advice {
  readonly from: string;
  readonly text: string;
  readonly option: string;
}

function adviceIn(from: string, text: string): readonly Advice[] {
  return namedOptions(text).map((option) => ({ from, text, option }));
}

const folder = join(root, "src");
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  // They describe options, and advise nothing.
  .filter((file) => !/^config\/(?:schema|compat\/)/u.test(file));

const inSource = sources.flatMap((file) =>
  [...readFileSync(join(folder, file), "utf8").matchAll(literals)].flatMap(([text]) =>
    advises.test(text) ? adviceIn(file, text) : [],
  ),
);
const inDocs = tableRows(readPage("docs/errors.md"), "code").flatMap((row) =>
  adviceIn(`docs/errors.md ${row[0]}`, row.at(-1) ?? ""),
);

describe("options that messages advise to change", () => {
  const free = new Set(freeOptions());

  it("are found", () => {
    const found = new Set([...inSource, ...inDocs].map(({ option }) => option));
    expect([...found]).toEqual(
      expect.arrayContaining([
        "training.learning_rate",
        "training.ppo_epochs",
        "guards.action",
        "workflow.timeout_s",
        "local.training_memory_mib",
        "verl.timeout_s",
        "tinker.context_length",
      ]),
    );
  });

  it.each([...inSource, ...inDocs].map((one) => [one.option, one] as const))(
    "%s may change on resume, or the advice comes before there is a checkpoint",
    (option, { from, text }) => {
      const isAllowed = free.has(option) || atStartOnly[from]?.includes(option) === true;
      expect(isAllowed, `${from}: ${text}`).toBe(true);
    },
  );
});
