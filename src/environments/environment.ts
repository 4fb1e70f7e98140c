/** An environment by one string: which protocol, and where. */
import type { EnvironmentSource } from "../core/environment.ts";
import { ConfigError } from "../core/errors.ts";
import { defined } from "../util/defined.ts";
import { HarborSource } from "./harbor/harbor-source.ts";
import { McpSource } from "./mcp/mcp-source.ts";
import { OpenEnvSource } from "./openenv/openenv-source.ts";
import { openReplay } from "./replay/open-replay.ts";
import { ReasoningGymSource } from "./reasoning-gym/reasoning-gym-source.ts";
import { VerifiersSource } from "./verifiers/verifiers-source.ts";

/** Options of {@link environment}; each protocol reads those that it has. */
export interface EnvironmentOptions {
  /** Limit of one call in milliseconds, for `openenv:`, `mcp:` and `harbor:`. @default 300000 */
  readonly callTimeoutMs?: number;
  /** Python interpreter, for `verifiers:` and `reasoning-gym:`. @default that of `agent-trainer env setup`, else python3 */
  readonly python?: string;
}

type Opener = (rest: string, options: EnvironmentOptions) => EnvironmentSource;

const kinds: Readonly<Record<string, Opener>> = {
  openenv: (rest, { callTimeoutMs }) => {
    const { url, name } = splitUrl(rest);
    return new OpenEnvSource({ url, ...defined({ env: name, callTimeoutMs }) });
  },
  mcp: (rest, { callTimeoutMs }) => new McpSource({ server: rest, ...defined({ callTimeoutMs }) }),
  harbor: (rest, { callTimeoutMs }) => {
    const [folder = "", query = ""] = rest.split(/\?(.*)/su);
    const { pass_env: passEnv, ...unknown } = Object.fromEntries(new URLSearchParams(query));
    const [wrong] = Object.keys(unknown);
    if (wrong !== undefined) {
      throw new ConfigError({
        message: `The environment harbor:${rest} has the field "${wrong}"; there is pass_env.`,
        hint: "Write it as in harbor:./tasks?pass_env=OPENAI_API_KEY.",
        fields: { value: rest },
      });
    }
    return new HarborSource({
      folder,
      ...defined({
        passEnv: passEnv?.split(",").filter((name) => name !== ""),
        callTimeoutMs,
      }),
    });
  },
  verifiers: (rest, { python }) => {
    const [taskset = "", query = ""] = rest.split(/\?(.*)/su);
    return new VerifiersSource({ taskset, config: queryTree(query), ...defined({ python }) });
  },
  replay: openReplay,
  "reasoning-gym": (rest, { python }) => {
    const [family = "", query = ""] = rest.split(/\?(.*)/su);
    const { size, ...config } = queryTree(query);
    return new ReasoningGymSource({
      family,
      config,
      ...(size === undefined ? {} : { size: Number(size) }),
      ...defined({ python }),
    });
  },
};

function kindOf(text: string): string | null {
  const kind = /^([a-z][a-z-]*):/u.exec(text)?.[1];
  return kind !== undefined && Object.hasOwn(kinds, kind) ? kind : null;
}

/**
 * The environment that a string names. Nothing is connected to before its tasks are read.
 *
 * @example
 * const shop = environment("openenv:http://127.0.0.1:8000");
 * for await (const task of shop.tasks("train", { stop: 3 })) console.log(task.instruction);
 *
 * @throws ConfigError for an unknown protocol or an address that is no URL.
 */
export function environment(text: string, options: EnvironmentOptions = {}): EnvironmentSource {
  const kind = kindOf(text);
  const open = kind === null ? undefined : kinds[kind];
  if (kind === null || open === undefined) {
    const known = Object.keys(kinds).map((name) => `${name}:`);
    throw new ConfigError({
      message: `The environment ${JSON.stringify(text)} begins with no known protocol; there are ${known.join(", ")}.`,
      hint: "Write it as in openenv:http://127.0.0.1:8000, or as path#export of a module.",
      fields: { value: text },
    });
  }
  return open(text.slice(kind.length + 1), options);
}

/** `a.b=1&c=x` as `{ a: { b: 1 }, c: "x" }`: values are JSON, or else text. */
function queryTree(query: string): Record<string, unknown> {
  const tree = emptyTree();
  for (const [path, text] of new URLSearchParams(query)) {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    let at = tree;
    for (const key of keys) {
      const inner = (at[key] ??= emptyTree());
      if (typeof inner !== "object" || inner === null) {
        throw new ConfigError({
          message: `The environment's fields give ${JSON.stringify(key)} both a value and the field ${path}.`,
          hint: `Leave one of them out of ${JSON.stringify(query)}.`,
          fields: { value: query },
        });
      }
      at = inner as Record<string, unknown>;
    }
    at[last] = jsonOrText(text);
  }
  return tree;
}

/** Without a prototype, so that `__proto__` is a field as any other. */
const emptyTree = (): Record<string, unknown> => Object.create(null) as Record<string, unknown>;

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function splitUrl(rest: string): { url: string; name: string | undefined } {
  const at = rest.indexOf("#");
  const url = at === -1 ? rest : rest.slice(0, at);
  const name = at === -1 ? undefined : decodeURIComponent(rest.slice(at + 1));
  if (!URL.canParse(url) || !/^(?:https?|wss?):$/u.test(new URL(url).protocol)) {
    throw new ConfigError({
      message: `The environment openenv:${rest} has no URL after "openenv:".`,
      hint: "Write it as in openenv:http://127.0.0.1:8000.",
      fields: { value: rest },
    });
  }
  return { url, name: name === "" ? undefined : name };
}
