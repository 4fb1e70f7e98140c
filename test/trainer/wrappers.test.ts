import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type {
  HttpTarget,
  InferenceTarget,
  SamplerTarget,
  TrainingBackend,
} from "../../src/core/backend.ts";
import type { Renderer, Sampler } from "../../src/core/policy.ts";
import type { TraceStore } from "../../src/gateway/index.ts";
import { Budget } from "../../src/trainer/budget/budget.ts";
import { meteredBackend, meteredStore, meteredTarget } from "../../src/trainer/budget/metered.ts";
import {
  KnownLogprobs,
  withKnownForward,
  withSharedForward,
} from "../../src/trainer/update/shared-forward.ts";
import { adaptedTarget } from "../../src/launch/serve/model-host.ts";
import { withRoleEnds } from "../../src/models/turn-ends.ts";
import { createByteRenderer } from "../../src/testing/index.ts";
import { allCapabilities } from "./coin-backend.ts";

const budget = () => new Budget({ tokens: null, usd: null, prices: null });
const none = async () => [];

// Everything that each interface has: the compiler asks for what it gains.
const sampler: Required<Sampler> = {
  contextLength: 77,
  appliesLogitRules: true,
  sample: none,
};
const renderer: Required<Renderer> = {
  ...createByteRenderer(),
  grammar: () => null,
  encode: () => new Int32Array(1),
  inspect: () => "<s>",
  longestToken: 9,
  choosesThinking: true,
  long: {
    render: async () => ({ tokens: new Int32Array(1) }),
    extend: async () => null,
    encode: async () => new Int32Array(1),
  },
};
const samplerTarget: Required<SamplerTarget> = { kind: "sampler", sampler, renderer };
const httpTarget: Required<HttpTarget> = {
  kind: "http",
  workers: [{ url: "http://127.0.0.1:1" }],
  renderer,
  tokenMode: "cumulative",
  contextLength: 77,
  deadlines: {},
  maxAttempts: 1,
  retryDelayMs: 1,
  healthIntervalMs: 1,
  healthTimeoutMs: 1,
  offloadFrom: 1,
  maxResponseBytes: 1,
};
const backend: Required<TrainingBackend> = {
  name: "full",
  capabilities: { ...allCapabilities, forward: true },
  start: async () => samplerTarget,
  updatePolicy: async () => ({}),
  forward: none,
  entropies: none,
  values: none,
  publishWeights: async () => 1,
  saveState: async () => {},
  loadState: async () => {},
  usdPerHour: 3,
  metrics: async () => ({}),
  [Symbol.asyncDispose]: async () => {},
};

interface Wrapper<T> {
  /** The function as it is written in the source. */
  readonly name: string;
  readonly wrap: (bare: T) => T;
  /** Properties that it changes. */
  readonly changes: readonly (keyof T)[];
}

const ofSamplers: readonly Wrapper<Sampler>[] = [
  {
    name: "meteredSampler",
    wrap: (bare) =>
      (meteredTarget({ ...samplerTarget, sampler: bare }, budget()) as SamplerTarget).sampler,
    changes: ["sample"],
  },
];
const ofRenderers: readonly Wrapper<Renderer>[] = [
  {
    name: "withRoleEnds",
    wrap: (bare) => withRoleEnds(bare, new Set([5])),
    changes: ["stop", "parse", "decode", "extend", "long"],
  },
];
const ofTargets: readonly Wrapper<InferenceTarget>[] = [
  {
    name: "meteredTarget",
    wrap: (bare) => meteredTarget(bare, budget()),
    changes: ["sampler" as keyof InferenceTarget],
  },
  {
    name: "adaptedTarget",
    wrap: (bare) => adaptedTarget(bare, "judge"),
    changes: ["sampler" as keyof InferenceTarget],
  },
];
const store: Required<TraceStore> = {
  append: () => {},
  get: () => undefined,
  bySession: none,
  page: () => ({ traces: [], cursor: 0 }),
  saveSession: () => {},
  sessions: () => [],
  deleteSession: () => 0,
  flush: () => {},
  stats: () => ({ commits: 0, commitSeconds: 0 }),
  close: () => {},
};
const ofStores: readonly Wrapper<TraceStore>[] = [
  { name: "meteredStore", wrap: (bare) => meteredStore(bare, budget()), changes: ["append"] },
];
const ofBackends: readonly Wrapper<TrainingBackend>[] = [
  {
    name: "meteredBackend",
    wrap: (bare) => meteredBackend(bare, budget()),
    changes: ["updatePolicy", "forward", "entropies"],
  },
  {
    name: "withSharedForward",
    wrap: (bare) => withSharedForward(bare) as TrainingBackend,
    changes: ["updatePolicy", "forward"],
  },
  {
    name: "withKnownForward",
    wrap: (bare) => withKnownForward(bare, new KnownLogprobs()) as TrainingBackend,
    changes: ["forward"],
  },
];

/** The same properties as methods and getters of a class, behind private fields. */
function asClass<T extends object>(bare: T): T {
  class Held {
    readonly #bare = bare;
    get held(): T {
      return this.#bare;
    }
  }
  for (const key of Reflect.ownKeys(bare)) {
    const value: unknown = Reflect.get(bare, key);
    const own =
      typeof value === "function"
        ? {
            value(this: Held, ...args: unknown[]): unknown {
              return (Reflect.get(this.held, key) as (...args: unknown[]) => unknown)(...args);
            },
          }
        : {
            get(this: Held): unknown {
              return Reflect.get(this.held, key);
            },
          };
    Object.defineProperty(Held.prototype, key, { ...own, configurable: true });
  }
  return new Held() as unknown as T;
}

/** Everything that `bare` can do, asked of what a wrapper makes of it. */
function expectAll<T extends object>({ wrap, changes }: Wrapper<T>, bare: T): void {
  const spied: Record<PropertyKey, unknown> = {};
  for (const key of Reflect.ownKeys(bare)) {
    const value: unknown = Reflect.get(bare, key);
    spied[key] = typeof value === "function" ? vi.fn<() => PropertyKey>(() => key) : value;
  }
  for (const form of [spied as T, asClass(spied as T)]) {
    const wrapped = wrap(form);
    for (const key of Reflect.ownKeys(bare)) {
      const found: unknown = Reflect.get(wrapped, key);
      const own = spied[key];
      if (typeof own !== "function") {
        if (!changes.includes(key as keyof T)) expect(found, String(key)).toBe(own);
        expect(typeof found, String(key)).toBe(typeof own);
        continue;
      }
      expect(found, String(key)).toBeTypeOf("function");
      if (changes.includes(key as keyof T)) continue;
      const args = [{}, {}, {}];
      const method = found as (...args: unknown[]) => unknown;
      expect(method.call(wrapped, ...args), String(key)).toBe(key);
      expect(own).toHaveBeenLastCalledWith(...args);
    }
  }
}

/** What lacks an optional property goes on lacking it. */
function expectAbsent<T extends object>(
  { wrap }: Wrapper<T>,
  bare: T,
  optional: readonly string[],
) {
  const least = Object.fromEntries(
    Reflect.ownKeys(bare)
      .filter((key) => !optional.includes(key as string))
      .map((key) => [key, Reflect.get(bare, key) as unknown]),
  ) as T;
  for (const key of optional) expect(Reflect.get(wrap(least), key), key).toBeUndefined();
}

describe("what is wrapped can do what its bare form can", () => {
  it.each(ofSamplers)("$name", (wrapper) => {
    expectAll(wrapper, sampler);
    expectAbsent(wrapper, sampler, ["appliesLogitRules"]);
  });
  it.each(ofRenderers)("$name", (wrapper) => {
    expectAll(wrapper, renderer);
    expectAbsent(wrapper, renderer, ["grammar", "encode", "inspect", "longestToken", "long"]);
  });
  it.each(ofTargets)("$name", (wrapper) => {
    expectAll(wrapper, samplerTarget);
    expectAll(wrapper, httpTarget);
    expectAbsent(wrapper, httpTarget, ["renderer", "contextLength", "deadlines"]);
  });
  it.each(ofBackends)("$name", (wrapper) => {
    expectAll(wrapper, backend);
    expectAbsent(wrapper, backend, ["forward", "entropies", "usdPerHour", "metrics"]);
  });
  it.each(ofStores)("$name", (wrapper) => {
    expectAll(wrapper, store);
    expectAbsent(wrapper, store, ["stats"]);
  });
  it("learns later what the bare form learns later", () => {
    let contextLength = Infinity;
    let rules = false;
    const late: Sampler = {
      get contextLength() {
        return contextLength;
      },
      get appliesLogitRules() {
        return rules;
      },
      sample: none,
    };
    const wrapped = ofSamplers[0]!.wrap(late);
    expect([wrapped.contextLength, wrapped.appliesLogitRules]).toEqual([Infinity, false]);
    [contextLength, rules] = [512, true];
    expect([wrapped.contextLength, wrapped.appliesLogitRules]).toEqual([512, true]);
  });
});

describe("wrappers in the source", () => {
  const root = join(import.meta.dirname, "../..");
  const files = ["src", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .map((path) => join(folder, path)),
  );
  const sources = files.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  /** A function that takes one of the interfaces and returns the same. */
  const signature =
    /(?:function (\w+)\s*(?:<[^>]*>)?|(\w+) = )\((?:[^()]|\(\))*?:\s*(Sampler|Renderer|InferenceTarget|TraceStore|\w+Target|\w*Backend)\b(?:[^()]|\(\))*\):\s*\3\b[^;]*?(?:\{|=>)/gu;

  it("are all in the tables above, and none copies what it wraps", () => {
    const found = sources.flatMap(({ path, text }) =>
      path.startsWith("scripts")
        ? []
        : [...text.matchAll(signature)].map(([, own, assigned]) => own ?? assigned!),
    );
    const listed = [...ofSamplers, ...ofRenderers, ...ofTargets, ...ofStores, ...ofBackends].map(
      ({ name }) => name,
    );
    expect(found.toSorted()).toEqual(listed.toSorted());
    const copies = sources.flatMap(({ path, text }) =>
      [
        ...text.matchAll(
          /\.\.\.(?:\w+\.)*\w*(?:[tT]arget|[bB]ackend|[rR]enderer|[sS]ampler)(?![\w.(])/gu,
        ),
      ].map(([copy]) => `${path}: ${copy}`),
    );
    expect(copies).toEqual([]);
  });
});
