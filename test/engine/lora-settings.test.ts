/** Settings of PEFT's adapters: what the merge follows, and what it refuses. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readScaling } from "../../src/engine/checkpoint/lora-settings.ts";
import { sharedCases } from "../shared-cases.ts";

const standard = {
  peft_type: "LORA",
  r: 8,
  lora_alpha: 16,
  bias: "none",
  use_rslora: false,
  fan_in_fan_out: false,
  init_lora_weights: true,
  loftq_config: {},
  qalora_group_size: 16,
  megatron_core: "megatron.core",
};
const scale = (config: object, module: string, rank = 8): number =>
  readScaling({ ...standard, ...config }, "out/adapter_config.json")(module, rank);
const alpha = (config: object, module: string): number => scale(config, module) * 8;
const q = (layer: number): string => `model.layers.${layer}.self_attn.q_proj`;

interface Case {
  readonly kind: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly wanted: string;
}
const shared = sharedCases("training/adapters.json");

describe.skipIf(shared === null)("shared adapters (skipped where there are none)", () => {
  const cases = shared === null ? [] : (JSON.parse(readFileSync(shared, "utf8")) as Case[]);
  const right: readonly (readonly [match: (found: Case) => boolean, check: (c: Case) => void])[] = [
    [
      ({ wanted }) => wanted.startsWith("refused by name: PEFT"),
      ({ config }) => expect(() => scale(config, q(0))).toThrow(/"init_lora_weights": "pissa"/u),
    ],
    [
      ({ wanted }) => wanted.startsWith("lora_alpha: PEFT"),
      ({ config }) => expect(alpha(config, q(3))).toBe(16),
    ],
    [
      ({ wanted }) => wanted.startsWith("400 for layer 1, lora_alpha for layer 11"),
      ({ config }) => expect([1, 11].map((i) => alpha(config, q(i)))).toEqual([400, 16]),
    ],
    [
      ({ wanted }) => wanted.startsWith("400 as in Python"),
      ({ config }) => expect(alpha(config, q(0))).toBe(400),
    ],
    [
      ({ wanted }) => wanted.startsWith("refused by name (so it is)"),
      ({ config }) => expect(() => scale(config, q(0))).toThrow(/"lora_alpha" is "16"/u),
    ],
    [
      ({ wanted }) => wanted === "80 / r for all",
      ({ config }) => expect([0, 7].map((i) => scale(config, q(i)))).toEqual([10, 10]),
    ],
    [
      ({ wanted }) => wanted.startsWith("16 / r for layer 2"),
      ({ config }) => expect([2, 1, 12].map((i) => scale(config, q(i)))).toEqual([2, 10, 10]),
    ],
    // Which weights the base has is checked where the two are merged.
    [
      ({ wanted }) => wanted.startsWith("refused: a tied base"),
      ({ config }) => expect(scale(config, "lm_head")).toBe(2),
    ],
  ];
  it.each(cases)("$kind: $config", (found) => {
    const checks = right.filter(([match]) => match(found));
    expect(checks).toHaveLength(1);
    checks[0]![1](found);
  });
});

describe("init_lora_weights", () => {
  it.each(["pissa", "pissa_niter_16", "olora", "corda", "lora_ga", "loftq", "OLoRA"])(
    "%s, which changes the base, is refused with what to do",
    (start) => {
      const read = (): unknown => readScaling({ ...standard, init_lora_weights: start }, "a.json");
      expect(read).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(/^a\.json: "init_lora_weights": .* changed the weights/u),
          hint: expect.stringMatching(/path_initial_model_for_weight_conversion/u),
        }) as Error,
      );
    },
  );
  it.each([true, false, null, undefined, "gaussian", "orthogonal", "eva", "mica"])(
    "%s, which leaves the base as it is, is merged",
    (start) => expect(scale({ init_lora_weights: start }, q(0))).toBe(2),
  );
  it("of another name is refused", () => {
    expect(() => scale({ init_lora_weights: "new" }, q(0))).toThrow(/"new" is not supported/u);
  });
});

describe("a pattern", () => {
  // Each pattern with the modules that re.match(rf"(.*\.)?({pattern})$", module) finds, of Python 3.12.
  it.each([
    ["q_proj", [true, true, false]],
    ["proj", [false, false, false]],
    ["attn.q_proj", [false, false, false]],
    ["self_attn.q_proj", [true, true, false]],
    ["1.self_attn.q_proj", [true, false, false]],
    ["^model.layers.1.self_attn.q_proj", [true, false, false]],
    ["layers.\\d+.self_attn.q_proj", [true, true, false]],
    [".*q_proj", [true, true, false]],
    ["(q|down)_proj", [true, true, true]],
    ["q_proj|down_proj", [true, true, true]],
    ["self\\_attn\\.q_proj", [true, true, false]],
    ["q_pro", [false, false, false]],
    ["(?P<layer>1)\\.self_attn\\.[qkv]_proj", [true, false, false]],
    ["", [false, false, false]],
  ])("%j is matched as in PEFT", (pattern, found) => {
    const modules = [q(1), q(11), "model.layers.2.mlp.down_proj"];
    const alphas = modules.map((module) => alpha({ alpha_pattern: { [pattern]: 400 } }, module));
    expect(alphas).toEqual(found.map((isFound) => (isFound ? 400 : 16)));
  });
  it("that is first wins", () => {
    const patterns = { "layers.2.self_attn.q_proj": 16, q_proj: 80, "2.self_attn.q_proj": 1 };
    expect(alpha({ alpha_pattern: patterns }, q(2))).toBe(16);
    expect(alpha({ alpha_pattern: patterns }, q(12))).toBe(80);
  });
  it.each(["(?=q)q_proj", "(a)\\1", "*", "q_proj\\Z", "(", "o{,2}"])(
    "%j, which only Python can read, is refused with the file and the setting",
    (pattern) => {
      for (const key of ["alpha_pattern", "rank_pattern"])
        expect(() => scale({ [key]: { [pattern]: 8 } }, q(0))).toThrow(
          new RegExp(`^out/adapter_config\\.json: the pattern .* in "${key}" cannot be read`, "u"),
        );
    },
  );
  it("takes a time that is linear in the path", () => {
    const module = `model.${"a".repeat(5_000)}`;
    expect(alpha({ alpha_pattern: { "(a+)+b": 1 } }, module)).toBe(16);
  });
  it.each([[["q_proj"]], ["q_proj"], [3]])("map that is %j is refused", (value) => {
    expect(() => scale({ alpha_pattern: value }, q(0))).toThrow(/"alpha_pattern" is .*, not an/u);
  });
  it("gives ranks, which the factors must have", () => {
    expect(scale({ rank_pattern: { q_proj: 4 } }, q(0), 4)).toBe(4);
    expect(() => scale({ rank_pattern: { q_proj: 4 } }, q(0), 8)).toThrow(/the rank 4, but .* 8/u);
    expect(() => scale({ r: 16 }, q(0), 8)).toThrow(/the rank 16, but/u);
  });
});

describe("other settings", () => {
  it("follow rank stabilization", () => {
    expect(scale({ use_rslora: true, lora_alpha: 6, r: 9 }, q(0), 9)).toBe(2);
    expect(() => scale({ use_rslora: "yes" }, q(0))).toThrow(/"use_rslora" is "yes"/u);
  });
  it.each([
    { use_dora: true },
    { use_dora: "true" },
    { use_dora: 1 },
    { use_qalora: true },
    { use_bdlora: { target_modules_bd_a: [] } },
    { bias: "all" },
    { bias: "lora_only" },
    { lora_bias: true },
    { fan_in_fan_out: true },
    { modules_to_save: ["lm_head"] },
    { target_parameters: ["experts.w"] },
    { layer_replication: [[0, 4]] },
    { trainable_token_indices: [5] },
    { trainable_token_indices: { embed_tokens: [5] } },
    { alora_invocation_tokens: [1, 2] },
    { arrow_config: { top_k: 3 } },
    { kasa_config: { beta: 1 } },
    { monteclora_config: { samples: 2 } },
    { velora_config: { rank: 1 } },
    { newer_switch: true },
    { newer_config: { a: 1 } },
  ])("%j are refused by name", (change) => {
    const [key] = Object.keys(change);
    expect(() => scale(change, q(0))).toThrow(new RegExp(`"${key}": .* is not supported`, "u"));
  });
  it.each([
    { layers_to_transform: [1], layers_pattern: "layers" },
    { target_modules: "all-linear", exclude_modules: ["lm_head"] },
    { lora_dropout: 0.1, task_type: "CAUSAL_LM", inference_mode: true, revision: "main" },
    { eva_config: { rho: 2 }, init_lora_weights: "eva", loftq_config: { loftq_bits: 4 } },
    { modules_to_save: null, use_dora: false, trainable_token_indices: {}, bias: null },
    { newer_size: 16, newer_name: "x", newer_list: [] },
  ])("%j change nothing", (change) => expect(scale(change, q(0))).toBe(2));
});
