import { describe, expect, it } from "vitest";
import { type ConfigField, configFields } from "../fields.ts";
import { loadConfig, warningsOf, resolveConfig } from "../load.ts";
import type { Requirement } from "../schema/option-meta.ts";
import { describeRequirement, idleOptions, validationNotices } from "./switches.ts";

const fields = new Map(configFields().map((field) => [field.key, field]));

/** A value that is none of these. */
function otherThan(key: string, values: readonly unknown[]): unknown {
  const texts = new Set(values.map((value) => JSON.stringify(value)));
  const found = fields.get(key)!.examples.find((value) => !texts.has(JSON.stringify(value)));
  expect(found, `another value of ${key}`).toBeDefined();
  return found;
}

/** What the option is where nothing is said. */
function usual({ default: standard, inherits }: ConfigField): unknown {
  return inherits === undefined ? standard : fields.get(inherits)!.default;
}

const changed = (field: ConfigField): unknown => otherThan(field.key, [usual(field)]);

/** What sets a requirement on, or off. */
function setting(requirement: Requirement, isOn: boolean): Record<string, unknown> {
  if ("data" in requirement) return {};
  if ("anyOf" in requirement) {
    const all = requirement.anyOf.map((one) => setting(one, isOn));
    return isOn ? all[0]! : (Object.assign({}, ...all) as Record<string, unknown>);
  }
  const { option } = requirement;
  if ("above" in requirement) return { [option]: isOn ? requirement.above + 1 : requirement.above };
  if ("includes" in requirement) return { [option]: isOn ? [requirement.includes] : [] };
  if ("not" in requirement) {
    return { [option]: isOn ? otherThan(option, [requirement.not]) : requirement.not };
  }
  return { [option]: isOn ? requirement.is[0] : otherThan(option, requirement.is) };
}

function configOf(field: ConfigField, isOn: boolean, value: unknown = changed(field)) {
  const settings = field.requires.map((one) => setting(one, isOn));
  const set = Object.assign({}, ...settings) as Record<string, unknown>;
  const backend = field.key.startsWith("verl.") ? { backend: "verl" } : {};
  return loadConfig({
    overrides: { "model.name": "m", ...backend, ...set, [field.key]: value },
  }).config;
}

/** What the type of an option has is refused where another one was chosen; see `schema/variants.test.ts`. */
const dependent = configFields().filter(
  ({ requires, variant }) => requires.length > 0 && variant === undefined,
);

describe("an option whose switch is off", () => {
  it("is declared by every option of a section that has one", () => {
    const sections = [...fields.keys()].flatMap((key) =>
      key.endsWith(".enable") ? [key.slice(0, -"enable".length)] : [],
    );
    expect(sections).toHaveLength(4);
    for (const section of sections) {
      const mine = `${section}enable`;
      const others = [...fields.values()].filter(
        ({ key }) => key.startsWith(section) && key !== mine,
      );
      for (const { key, requires } of others)
        expect(JSON.stringify(requires), key).toContain(`"option":"${mine}"`);
    }
    expect(dependent.length).toBeGreaterThanOrEqual(70);
  });

  it.each(dependent.map((field) => [field.key, field] as const))(
    "%s gives a warning that names the switch, and none when it is on",
    (key, field) => {
      const off = configOf(field, false);
      const idle = idleOptions(off, false).filter((one) => one.key === key);
      expect(idle).toHaveLength(1);
      const expected = `${key}=${JSON.stringify(idle[0]!.value)} has no effect: it needs ${describeRequirement(idle[0]!.lacks)}.`;
      expect([...warningsOf(off), ...validationNotices(off)]).toContain(expected);
      const on = configOf(field, true);
      expect(idleOptions(on, true).map((one) => one.key)).not.toContain(key);
      // What stays at its default was not asked for.
      const asDefault = configOf(field, false, field.default);
      expect(idleOptions(asDefault, false).map((one) => one.key)).not.toContain(key);
    },
  );

  it("is named in the words of the configuration", () => {
    const { warnings, config } = loadConfig({
      overrides: [
        "model.name=m",
        "algorithm.kl_estimator=k2",
        "algorithm.loss_fn=dro",
        "algorithm.eps_clip=0.1",
      ],
    });
    expect(warnings).toEqual([
      "algorithm.eps_clip=0.1 has no effect: algorithm.loss.eps_clip belongs to ppo, cispo, gspo and gmpo, and algorithm.loss is dro.",
      'algorithm.kl_estimator="k2" has no effect: it needs algorithm.kl_beta above 0.',
    ]);
    // Also where a configuration is taken apart and put together again.
    const { algorithm } = config;
    const again = resolveConfig({ ...config, algorithm: { ...algorithm, klBeta: 0.1 } });
    expect(warningsOf(again)).toEqual([]);
    const still = resolveConfig({ ...config, algorithm: { ...algorithm, klEstimator: "k1" } });
    expect(warningsOf(still)).toHaveLength(1);
  });

  it("is named with every value that would do, null included", () => {
    const async = ["async_training.enable=true", "async_training.mini_batch_size=4"];
    const overrides = ["model.name=m", "data.train_batch_size=1", ...async];
    expect(loadConfig({ overrides }).warnings).toEqual([
      "data.train_batch_size=1 has no effect: it needs async_training.enable=false or async_training.mini_batch_size=null.",
    ]);
  });

  it("may stay in a section of a backend that is not used", () => {
    const overrides = ["model.name=m", "verl.inference_nodes=2", "verl.setup_hook=a.b"];
    expect(loadConfig({ overrides }).warnings).toEqual([]);
  });
});

describe("validations", () => {
  it("sample as training does where nothing else is said, apart from the temperature", () => {
    const { rollout } = loadConfig({
      overrides: [
        "model.name=m",
        "rollout.train={temperature: 0.7, top_p: 0.9, top_k: 40, min_p: 0.1, max_tokens: 2048}",
        "rollout.val.top_k=3",
      ],
    }).config;
    expect(rollout.val).toEqual({
      temperature: 1,
      topP: 0.9,
      topK: 3,
      minP: 0.1,
      maxTokens: 2048,
    });
  });
});
