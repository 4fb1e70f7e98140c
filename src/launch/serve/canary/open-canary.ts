/** Opens the canary of a served model. */
import { join } from "node:path";
import type { HostOptions, NamedModel } from "../model-host.ts";
import type { CanaryChange, checkCanary } from "../serve-options.ts";
import type { ServedCalls } from "../served-calls.ts";
import { CanaryModel } from "./canary-model.ts";
import { CanaryFile } from "./canary-state.ts";

/** What was given to be served, as text. */
export const originOf = ({ given, name }: NamedModel): string =>
  typeof given === "string" ? given : name;

/** Its state is in the store, by the name that it is served under. */
export async function openCanary(
  model: NamedModel,
  {
    calls,
    rule,
    host,
  }: {
    readonly calls: ServedCalls;
    readonly rule: ReturnType<typeof checkCanary>;
    readonly host: HostOptions;
  },
): Promise<CanaryModel> {
  const folder = join(host.store as string, "serve", encodeURIComponent(model.name));
  const file = new CanaryFile(folder);
  const { share, ...limits } = rule;
  const onChange = (change: CanaryChange): void => host.onCanary?.(change);
  const parts = { file, calls, rule: limits, share, host, onChange, now: Date.now };
  try {
    return await CanaryModel.open(model, originOf(model), parts);
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}
