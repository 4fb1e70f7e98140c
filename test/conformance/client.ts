/** A client as the matrix drives it: a chat in the client's own types behind one neutral face. */
import type { Protocol } from "../../src/core/trace.ts";
import type { World } from "./case.ts";

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, { readonly type: "string" }>>;
    readonly required: string[];
    readonly additionalProperties: false;
  };
}

export interface Settings {
  readonly stream: boolean;
  readonly system?: string;
  readonly tools?: readonly ToolSpec[];
  readonly stop?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

export interface Result {
  readonly call: Call;
  readonly output: string;
}

export interface Response {
  readonly text: string;
  /** Where the client shows it. */
  readonly reasoning?: string;
  readonly calls: readonly Call[];
  /** Where the client shows it. */
  readonly finish?: "stop" | "length" | "tools" | "stop-string";
  readonly usage?: { readonly input: number; readonly output: number };
}

export interface Chat {
  /** A user's message, or the results of all calls of the last answer. */
  send(input: string | readonly Result[]): Promise<Response>;
}

export type Feature = "stop" | "reasoning" | "tools";

export interface Client {
  readonly name: string;
  readonly protocol: Protocol;
  /** What the client itself cannot do. */
  readonly lacks: readonly Feature[];
  /** Why it cannot run here; absent when it can. */
  readonly skip?: string;
  open(world: World, settings: Settings): Chat;
}
