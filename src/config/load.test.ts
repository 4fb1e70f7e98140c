import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../core/errors.ts";
import { loadConfig, resolveConfig } from "./load.ts";
import { configFields } from "./fields.ts";
import { configTree, parseConfigTree } from "./parse.ts";
import { startWarnings } from "./checks/start-warnings.ts";

function yamlFile(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "agent-trainer-config-")), "run.yaml");
  writeFileSync(file, text);
  return file;
}

function errorOf(overrides: readonly string[] | Record<string, unknown>): ConfigError {
  try {
    loadConfig({ overrides });
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("no error");
}

describe("layers", () => {
  it("go from defaults over the file to overrides, and are remembered", () => {
    const file = yamlFile("model: {name: tiny}\nrollout:\n  n: 4\ndata: {train_batch_size: 2}\n");
    const { config, sources } = loadConfig({ file, overrides: ["rollout.n=6"] });
    expect(config.rollout.n).toBe(6);
    expect(config.data.trainBatchSize).toBe(2);
    expect(config.rollout.nVal).toBe(1);
    expect(sources.get("rollout.n")).toBe("override");
    expect(sources.get("data.train_batch_size")).toBe("file");
    expect(sources.get("rollout.n_val")).toBe("default");
  });
  it("takes an option back to its default with ~", () => {
    const file = yamlFile("model: {name: tiny}\nrollout: {n: 4, n_val: 3}\n");
    const { config, sources } = loadConfig({ file, overrides: ["~rollout.n"] });
    expect([config.rollout.n, config.rollout.nVal]).toEqual([8, 3]);
    expect(sources.get("rollout.n")).toBe("default");
  });
  it("has the documented defaults", () => {
    const { tree } = loadConfig({ overrides: ["model.name=builtin:shop-tiny"] });
    expect(tree).toMatchObject({
      model: { lora_rank: 0, lora_targets: "all" },
      data: { train_batch_size: 16, val_batch_size: -1 },
      rollout: { n: 8, n_val: 1, train: { temperature: 1, top_p: 1, top_k: 0 } },
      algorithm: {
        estimator: { type: "grpo", norm_by_std: true },
        loss: { type: "ppo", eps_clip: null, eps_clip_high: null, clip_ratio_c: null },
      },
      training: { learning_rate: 1e-4, lr_schedule: { type: "constant", warmup: 0 }, beta2: 0.95 },
      trainer: { total_epochs: 1, total_batches: -1, test_freq: 0, save_freq: 10, seed: 0 },
      workflow: { n_parallel_tasks: 64, retry_limit: 2 },
      backend: "local",
    });
  });
  it("takes a map with dotted and nested keys", () => {
    const { config } = loadConfig({
      overrides: {
        "model.name": "m",
        data: { train_batch_size: 3 },
        rollout: { "train.top_p": 0.5 },
      },
    });
    expect(config.data.trainBatchSize).toBe(3);
    expect(config.rollout.train.topP).toBe(0.5);
  });
});

describe("override texts", () => {
  it.each([
    ["rollout.n=4", "rollout", { n: 4 }],
    ["+rollout.n=4", "rollout", { n: 4 }],
    ["++rollout.n=4", "rollout", { n: 4 }],
    ["training.learning_rate=3e-4", "training", { learningRate: 3e-4 }],
    ["algorithm.filter_uniform_groups=false", "algorithm", { filterUniformGroups: false }],
    ["algorithm.loss.eps_clip_high=null", "algorithm", { loss: { epsClipHigh: null } }],
    ["rollout={n:3,n_val: 2}", "rollout", { n: 3, nVal: 2 }],
    ["rollout.train={temperature:0.5}", "rollout", { train: { temperature: 0.5, topP: 1 } }],
    ['dataset={train:"a:b.jsonl"}', "dataset", { train: "a:b.jsonl" }],
    ["trainer.output_dir=a=b", "trainer", { outputDir: "a=b" }],
  ])("%s", (text, section, expected) => {
    const { config } = loadConfig({ overrides: ["model.name=m", text] });
    expect(config[section as keyof typeof config]).toMatchObject(expected);
  });
  it.each([
    ["rollout.n", "not of the form key=value"],
    ["=3", 'no option name before "="'],
    ["~rollout.n=3", "both removes and sets"],
    ["~rollout.m", "Did you mean rollout.n?"],
    ["rollout.train={a: [}", "not valid YAML"],
  ])("refuses %s", (text, message) => {
    expect(errorOf(["model.name=m", text]).message).toContain(message);
  });
  it("lets the last one win", () => {
    const { config } = loadConfig({ overrides: ["model.name=m", "rollout.n=2", "rollout.n=3"] });
    expect(config.rollout.n).toBe(3);
  });
});

describe("startWarnings", () => {
  it.each([
    ["grpo", 1],
    ["opo", 1],
    ["reinforce", 0],
    ["reinforce_plus_plus", 0],
    ["prpo", 0],
    ["gae", 0],
  ])("of a group of one: %s has %i", (name, count) => {
    const { config } = loadConfig({
      overrides: ["model.name=m", "rollout.n=1", `algorithm.estimator=${name}`],
    });
    const about = startWarnings(config, 100, 10).filter((text) => text.includes("group of one"));
    expect(about).toHaveLength(count);
  });

  it("of a run in which only the critic learns", () => {
    const estimator = "algorithm.estimator={type: gae, critic_warmup: 10}";
    const { config } = loadConfig({ overrides: ["model.name=m", estimator] });
    expect(startWarnings(config, 100, 10).join()).toContain("covers all 10 steps");
    expect(startWarnings(config, 100, 11)).toEqual([]);
  });
});

describe("algorithm.rollout_correction", () => {
  const correction = (value: Record<string, unknown>) =>
    loadConfig({ overrides: { "model.name": "m", "algorithm.rollout_correction": value } }).config
      .algorithm.rolloutCorrection;

  it("takes rejections as a map, as a list, and as verl's two lists", () => {
    const reject = ["token_k1=0.5_2", "seq_mean_k3=0.5"];
    expect(correction({ reject: { token_k1: "0.5_2", seq_mean_k3: 0.5 } }).reject).toEqual(reject);
    for (const given of [
      { reject },
      { rollout_rs: ["token_k1", "seq_mean_k3"], rollout_rs_threshold: ["0.5_2", 0.5] },
      { rollout_rs_threshold: "0.5_2,0.5", rollout_rs: "token_k1,seq_mean_k3" },
    ])
      expect(correction(given).reject).toEqual(reject);
    expect(correction({ rollout_rs: null, rollout_rs_threshold: null }).reject).toEqual([]);
    expect(correction({ type: "token", cap: "0.5_5" })).toMatchObject({ cap: "0.5_5" });
  });
  it.each([
    [{}, "none"],
    [{ bypass_mode: true }, "none"],
    [{ bypass_mode: false }, "recompute"],
    [{ bypass_mode: false, tis_mode: "token" }, "token"],
    [{ bypass_mode: null, tis_mode: "sequence" }, "sequence"],
  ])("%j, in rLLM's names, is %s", (value, type) => {
    expect(correction(value).type).toBe(type);
  });
  it.each([
    [{ bypass_mode: true, tis_mode: "token" }, "would count the same ratio twice"],
    [{ rollout_rs: "token_k1" }, "the threshold of token_k1 must be a number above 1 or low_high"],
    [{ rollout_rs: "token_k4", rollout_rs_threshold: 2 }, 'no rejection "token_k4"'],
    [
      { rollout_rs: "token_k1,token_k2", rollout_rs_threshold: 2 },
      "2 rejections, but 1 thresholds",
    ],
    [{ type: "token", cap: "2_1" }, "cap must be a number above 0, or two as low_high"],
    [
      { tis_mode: "geometric" },
      "type (given as algorithm.rollout_correction.tis_mode) must be one of none,",
    ],
    [{ rollout_token_veto_threshold: 2 }, "above 0 and below 1"],
  ])("refuses %j", (value, message) => {
    expect(() => correction(value)).toThrow(message);
  });
});

describe("algorithm.estimator_by_role", () => {
  const mapOf = (value: string) =>
    loadConfig({ overrides: ["model.name=m", `algorithm.estimator_by_role=${value}`] }).config
      .algorithm.estimatorByRole;

  it("is a map of roles, whose case stays, or a list", () => {
    expect(mapOf("{theJudge: reinforce, solver: {type: grpo, norm_by_std: false}}")).toEqual([
      { role: "theJudge", type: "reinforce" },
      { role: "solver", type: "grpo", normByStd: false },
    ]);
    expect(mapOf("[judge=opo]")).toEqual([{ role: "judge", type: "opo" }]);
  });
  it.each([
    "{judge: ppo}",
    "[judge]",
    "[=grpo]",
    "[judge=ppo]",
    "{judge: {type: rloo, norm_by_std: true}}",
  ])("refuses %s", (value) => {
    expect(() => mapOf(value)).toThrow("algorithm.estimator_by_role");
  });
});

describe("errors", () => {
  it.each([
    ["data.train_batch_sice=8", "data.train_batch_size"],
    ["train_batch_size=8", "data.train_batch_size"],
    ["data.trainBatchSize=8", "data.train_batch_size"],
    ["training.lrs=0.1", "training.learning_rate"],
    ["training.schedule=linear", "training.lr_schedule"],
    ["trainer.learning_rate=0.1", "training.learning_rate"],
    ["rolout.n=8", "rollout.n"],
  ])("%s: did you mean %s", (text, nearest) => {
    const error = errorOf(["model.name=m", text]);
    expect(error.message).toContain(`Unknown option ${text.split("=")[0] as string}.`);
    expect(error.message).toContain(`Did you mean ${nearest}?`);
    expect(error.message).toContain("Allowed");
  });
  it.each([
    ["local.provider=cpu", "local.precision"],
    ["local.samplingPrecision=int8", "model.quantization=int8"],
  ])("%s: there is no such option any longer, but %s", (text, instead) => {
    const error = errorOf(["model.name=m", text]);
    expect(error.message).toContain(
      `There is no option ${text.split("=")[0] as string} any longer.`,
    );
    expect(error.message).toContain(instead);
  });
  it.each([
    ["rollout.n=0", "rollout.n must be a whole number of at least 1 and at most 65536; got 0."],
    ["rollout.n=2.5", "rollout.n must be a whole number of at least 1 and at most 65536; got 2.5."],
    [
      "rollout.n=many",
      'rollout.n must be a whole number of at least 1 and at most 65536; got "many".',
    ],
    ["rollout.train.top_p=0", "must be a number above 0 and at most 1; got 0."],
    [
      "training.learning_rate=.nan",
      "must be a number of at least 0 and at most 1, or null; got NaN.",
    ],
    ["trainer.total_batches=0", "must be -1, or a whole number from 1 to 1000000000; got 0."],
    ["algorithm.loss=pposs", "must be one of importance_sampling, ppo, cispo"],
    ["trainer.val_before_train=1", "must be true or false; got 1."],
    ["trainer.experiment_name=a/b", "must be a folder name, or null"],
    ["trainer.experiment_name=..", "must be a folder name, or null"],
    ["data=3", "data must be a map with the keys train_batch_size"],
  ])("%s: %s", (text, message) => {
    expect(errorOf(["model.name=m", text]).message).toContain(message);
  });
  it("come all at once", () => {
    const error = errorOf(["rollout.n=0", "data.bach=1", "backend=3"]);
    expect(error.message).toContain("has 3 problems");
    expect(error.message.match(/^- /gmu)).toHaveLength(3);
    expect(error.fields["issues"]).toHaveLength(3);
  });
  it.each([
    [
      "model:\n  name: [a\nrollout: {n: 1}\n",
      /run\.yaml:3 is not valid YAML: Flow .* with a \]\.$/u,
    ],
    ["a: 1\na: 2\n", /run\.yaml:2 is not valid YAML: Map keys must be unique\.$/u],
    ["model: {name: m}\nrollout: *none\n", /run\.yaml:2 .*: the alias \*none has no anchor/u],
    ["a: 1\n---\nb: 2\n", /run\.yaml:2 is not valid YAML: it has more than one document\.$/u],
  ])("name the line and the fault of the broken YAML %j", (text, message) => {
    expect(() => loadConfig({ file: yamlFile(text) })).toThrow(message);
  });
  it.each([
    ["tracking.trackers=[tensorbord]", 'got ["tensorbord"]. Did you mean tensorboard?'],
    ["algorithm.loss=ppoo", 'got "ppoo". Did you mean ppo?'],
    ["algorithm.estimator_by_role={judge: grop}", "Did you mean grpo?"],
    ["model.lora_targets=[q_poj]", "Did you mean q_proj?"],
    ["data.curriculum=Easy_First", "Did you mean easy_first?"],
  ])("suggest a value: %s", (text, message) => {
    expect(errorOf(["model.name=m", text]).message).toContain(message);
  });
  it("suggest no value where none is near", () => {
    const { message } = errorOf(["model.name=m", "tracking.trackers=[trackio]"]);
    expect(message).toMatch(
      /^tracking\.trackers must be a list of tensorboard, .* \["trackio"\]\.$/u,
    );
  });
  it("refuse files that are not a map", () => {
    expect(() => loadConfig({ file: yamlFile("- 1\n") })).toThrow("must hold a map of options");
    expect(() => loadConfig({ file: "/nowhere.yaml" })).toThrow("/nowhere.yaml cannot be read");
    const file = yamlFile("model: { name: m }\n");
    const near = join(dirname(file), `${basename(file, ".yaml")}s.yaml`);
    const hint = expect.stringContaining(`Did you mean ${file}?`) as string;
    expect(() => loadConfig({ file: near })).toThrow(expect.objectContaining({ hint }));
  });
});

describe("step-wise advantages", () => {
  it("are refused where they would change nothing", () => {
    const on = "stepwise_advantage.enable=true";
    expect(() => loadConfig({ overrides: ["model.name=m", on] })).toThrow(
      /^stepwise_advantage\.enable=true has no effect with stepwise_advantage\.mode=broadcast/u,
    );
    for (const effect of ["mode=per_step", "normalize_by_steps=true"]) {
      const overrides = ["model.name=m", on, `stepwise_advantage.${effect}`];
      expect(loadConfig({ overrides }).config.stepwiseAdvantage.enable).toBe(true);
    }
  });
});

describe("resolveConfig", () => {
  it("does not check again what was checked, which cannot change", () => {
    const { config, tree } = loadConfig({ overrides: ["model.name=m", "verl.config={a: {b: 1}}"] });
    expect(resolveConfig(config)).toBe(config);
    expect(configTree(config)).toBe(tree);
    expect(tree).toEqual(configTree({ ...config }));
    expect(() => Object.assign(config.rollout, { n: 0 })).toThrow(TypeError);
    expect(() => Object.assign(tree["rollout"] as object, { n: 0 })).toThrow(TypeError);
  });
  it("checks a TrainConfig that was changed by hand", () => {
    const { config } = loadConfig({ overrides: ["model.name=m"] });
    expect(resolveConfig(config)).toEqual(config);
    const changed = { ...config, rollout: { ...config.rollout, n: 0 } };
    expect(() => resolveConfig(changed)).toThrow("rollout.n must be");
  });
  it("survives being written to YAML and read again", () => {
    const { config } = loadConfig({ overrides: ["model.name=m", "training.learning_rate=3e-4"] });
    const text = stringify(configTree(config));
    expect(parseConfigTree(parse(text) as Record<string, unknown>)).toEqual(config);
  });
});

describe("configFields", () => {
  it("describes every key", () => {
    for (const field of configFields()) {
      expect(field.description, field.key).toMatch(/^[A-Z].*\.$/su);
      expect(field.allowed, field.key).not.toBe("");
    }
    const required = configFields().filter((field) => field.default === undefined);
    expect(required.map((field) => field.key)).toEqual([]);
  });
});
