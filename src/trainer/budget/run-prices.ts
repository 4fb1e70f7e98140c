/** The prices of a run: those of its options, else the published ones of the service that it uses. */
import { ConfigError } from "../../core/errors.ts";
import { tokenPriceRows, type TokenPrices } from "../../core/prices.ts";
import type { TrainConfig } from "../../config/train-config.ts";

/** Prices of tokens, and where they come from. */
export interface RunPrices {
  readonly prices: TokenPrices;
  readonly source: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Published prices are those of the hosted service, and not of another server that speaks its API. */
function isHosted(backend: string, config: TrainConfig, env: Environment): boolean {
  const given = (value: string | null | undefined): boolean => (value ?? "") !== "";
  if (backend === "tinker") return !given(config.tinker.baseUrl) && !given(env["TINKER_BASE_URL"]);
  return true;
}

/** Prices of tokens; null where they are not known. */
export function runPrices(
  config: TrainConfig,
  backend: string,
  env: Environment = process.env,
): RunPrices | null {
  const { prompt, sampled, trained } = config.budget.prices;
  const row = isHosted(backend, config, env)
    ? tokenPriceRows.find((one) => one.backend === backend && one.model === config.model.name)
    : undefined;
  const own = [prompt, sampled, trained].some((price) => price !== null);
  const of = (value: number | null, name: keyof TokenPrices): number | null =>
    value ?? row?.prices[name] ?? null;
  const all = [of(prompt, "prompt"), of(sampled, "sampled"), of(trained, "trained")];
  const [perPrompt, perSampled, perTrained] = all;
  if (perPrompt == null || perSampled == null || perTrained == null) return null;
  return {
    prices: { prompt: perPrompt, sampled: perSampled, trained: perTrained },
    source: own ? "budget.prices" : `${row?.source}, ${row?.date}`,
  };
}

/** Whether the hardware is held for the run alone, and paid by the hour. */
export const isPaidByHour = ({ fireworks }: TrainConfig, backend: string): boolean =>
  backend === "fireworks" && fireworks.trainingShape !== null;

/**
 * @param of what has no price, for the message
 * @throws ConfigError when `budget.usd` is set, but nothing says what the run costs.
 */
export function checkPrices(
  config: TrainConfig,
  backend: string,
  of: string = `the model ${config.model.name} on the backend ${backend}`,
): void {
  const { usd, prices } = config.budget;
  if (usd === null || isPaidByHour(config, backend) || runPrices(config, backend) !== null) return;
  const missing = (["prompt", "sampled", "trained"] as const)
    .filter((name) => prices[name] === null)
    .map((name) => `budget.prices.${name}`);
  throw new ConfigError({
    message: `budget.usd=${usd} cannot be kept: no price is known for ${of}.`,
    hint: `Set ${missing.join(", ")} (US dollars per million tokens), or use budget.tokens.`,
    fields: { usd, backend, model: config.model.name, missing },
  });
}
