import { beforeAll, describe, expect, it } from "vitest";
import { capabilityMatrix } from "../../../src/core/capabilities.ts";
import { UnsupportedOptionError } from "../../../src/core/errors.ts";
import { configFields } from "../../../src/config/fields.ts";
import type { TrainConfig } from "../../../src/config/train-config.ts";
import { checkCapabilities } from "../../../src/trainer/check-capabilities.ts";
import {
  backendNames,
  explainOption,
  type Supported,
  supportedValues,
  optionProbes,
} from "../../../src/trainer/explain-option.ts";
import { readPage, tableRows, unquoted } from "../../docs/pages.ts";

const page = readPage("docs/options.md");
const table = new Map(
  tableRows(page, "backends").map(([key, ...cells]) => [unquoted(key!), cells] as const),
);

const text = (supported: Supported): string =>
  typeof supported === "string" ? supported : supported.map(String).join(", ");

/** The options that a trainer on this backend refuses, or null when it takes the configuration. */
function refusal(backend: string, config: TrainConfig): string | null {
  const capabilities = capabilityMatrix[backend as keyof typeof capabilityMatrix];
  try {
    checkCapabilities(config, { name: backend, capabilities });
    return null;
  } catch (error) {
    if (error instanceof UnsupportedOptionError) return String(error.fields["option"]);
    throw error;
  }
}

describe("options and backends", () => {
  const cells = new Map<string, Supported[]>();
  beforeAll(() => {
    for (const field of configFields()) {
      const supported = supportedValues(field);
      cells.set(
        field.key,
        backendNames.map((backend) => supported[backend]!),
      );
    }
  });

  it("has a column for every backend", () => {
    const [, header] = /\| (backends \|.*) \|\n/u.exec(page) ?? [];
    expect(header?.split("|").map((cell) => cell.trim())).toEqual(["backends", ...backendNames]);
  });

  it("shows exactly what differs from all", () => {
    const differing = [...cells].flatMap(([key, row]) => {
      const isOwn = row.includes("own");
      return isOwn || row.every((cell) => cell === "all") ? [] : [[key, row.map(text)] as const];
    });
    expect(differing).toEqual([...table]);
  });

  it.each(configFields().map((field) => [field.key, field] as const))(
    "%s is supported or refused as the table says, value by value",
    (key, field) => {
      const probes = optionProbes(field);
      expect(probes.length).toBeGreaterThan(0);
      for (const [b, backend] of backendNames.entries()) {
        const cell = cells.get(key)?.[b];
        for (const value of new Set(probes.map((probe) => probe.value))) {
          const expected =
            cell === "all" || cell === "own" || (Array.isArray(cell) && cell.includes(value));
          // What is off asks for nothing.
          if (cell === "none" && value === false) continue;
          // A value may have several options to choose from that it needs.
          const refusals = probes
            .filter((probe) => probe.value === value)
            .map(({ config }) => refusal(backend, config));
          const refused = refusals.includes(null) ? null : refusals[0]!;
          const what = `${key}=${JSON.stringify(value)} on ${backend}`;
          expect(refused === null, `${what}: ${refused}`).toBe(expected);
          if (refused !== null) expect(refused.split(".")[0], what).toBe(key.split(".")[0]);
        }
      }
    },
  );
});

describe("explainOption", () => {
  it("tells of an option, with names that it has elsewhere", () => {
    expect(explainOption("rllm.rollout.n")).toMatchObject({
      key: "rollout.n",
      default: 8,
      supported: { local: "all" },
      otherNames: ["algorithm.group_size", "training.group_size", "actor_rollout_ref.rollout.n"],
    });
  });
  it("tells of an option with types by its name alone, and of what a type has", () => {
    expect(explainOption("algorithm.loss")).toMatchObject({
      key: "algorithm.loss.type",
      default: "ppo",
      otherNames: expect.arrayContaining(["algorithm.loss_fn"]),
    });
    expect(explainOption("algorithm.loss.beta")).toMatchObject({
      description: expect.stringMatching(/^For dro: /u),
      otherNames: expect.arrayContaining(["algorithm.dro_beta"]),
    });
    expect(explainOption("algorithm.loss_fn")).toMatchObject({ becomes: ["algorithm.loss.type"] });
  });
  it("tells what becomes of other trainers' keys", () => {
    expect(explainOption("rllm.data.max_response_length")).toMatchObject({
      becomes: ["rollout.train.max_tokens", "rollout.val.max_tokens"],
    });
    expect(explainOption("algorithm.lam")).toMatchObject({
      becomes: ["algorithm.estimator.lambda"],
    });
    expect(explainOption("critic.optim.lr")).toMatchObject({
      why: expect.stringContaining("value_learning_rate"),
    });
    expect(explainOption("agent.name")).toMatchObject({
      why: expect.stringContaining("no effect"),
    });
  });
  it.each([
    ["rollout.nn", "Did you mean rollout.n?"],
    ["rollout.train", "rollout.train is a section; its options are rollout.train.temperature"],
  ])("%s: %s", (key, message) => {
    expect(() => explainOption(key)).toThrow(message);
  });
});
