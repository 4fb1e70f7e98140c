/** The frameworks that `init` writes an agent for: their packages, and what they need of Node. */
import { ConfigError } from "../../core/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";

/** Names of the frameworks, as `init` takes them. */
export const frameworkNames = [
  "openai",
  "ai-sdk",
  "langgraph",
  "openai-agents",
  "mastra",
  "anthropic",
  "fetch",
] as const;

/** A framework that `initProject` writes an agent for. */
export type FrameworkName = (typeof frameworkNames)[number];

export interface Framework {
  /** As people call it. */
  readonly title: string;
  /** Packages that the agent imports; those without a version are tested at the one in package.json. */
  readonly packages: Readonly<Record<string, string | null>>;
  /** The oldest Node that runs it, if that is newer than the one that agent-trainer needs. */
  readonly minNode?: string;
  /** The newest major version of a package that needs a newer Node than the version written here. */
  readonly newer?: string;
}

export const frameworks: Readonly<Record<FrameworkName, Framework>> = {
  openai: { title: "the OpenAI SDK", packages: { openai: null }, newer: "openai 7" },
  "ai-sdk": {
    title: "the Vercel AI SDK",
    packages: { ai: null, "@ai-sdk/openai-compatible": null },
    newer: "ai 7",
  },
  langgraph: {
    title: "LangGraph",
    packages: { "@langchain/core": null, "@langchain/langgraph": null, "@langchain/openai": null },
    newer: "@langchain/openai 1.6",
  },
  "openai-agents": { title: "the OpenAI Agents SDK", packages: { "@openai/agents": null } },
  mastra: {
    title: "Mastra",
    packages: { "@mastra/core": "^1.71.0", zod: null },
    minNode: "22.13.0",
  },
  anthropic: { title: "Anthropic's SDK", packages: { "@anthropic-ai/sdk": null } },
  fetch: { title: "fetch, without any SDK", packages: {} },
};

/** @throws ConfigError with the nearest name when there is no such framework. */
export function requireFramework(name: string): FrameworkName {
  const found = frameworkNames.find((known) => known === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, frameworkNames);
  throw new ConfigError({
    message: `There is no framework "${name}".${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    hint: `Frameworks: ${frameworkNames.join(", ")}. An agent with another one starts from fetch: only its base URL and key change.`,
    fields: { framework: name, known: frameworkNames },
  });
}

/** What must be known of the Node version; `null` if nothing. */
export function nodeNote(framework: Framework, version: string): string | null {
  const { minNode, newer, packages, title } = framework;
  if (minNode !== undefined) {
    const [name] = Object.keys(packages);
    const note = `${title} (${name}) needs Node ${minNode} or later`;
    return isOlder(version, minNode) ? `${note}; this is ${version}.` : `${note}.`;
  }
  if (newer === undefined) return null;
  return `${newer} needs Node 22; the version in package.json is the one before, which also runs on Node 20.`;
}

function isOlder(version: string, least: string): boolean {
  const [have, need] = [version, least].map((text) => text.split(".").map(Number));
  for (const [i, part] of need!.entries()) {
    if (have![i] !== part) return (have![i] ?? 0) < part;
  }
  return false;
}
