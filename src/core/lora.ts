/** Which linear layers of a model get a LoRA adapter, by PEFT's names of `target_modules`. */

/** A linear layer of a transformer block. */
export type LoraTarget = (typeof loraLayers)[number];

const attention = ["q_proj", "k_proj", "v_proj", "o_proj"] as const;
const mlp = ["gate_proj", "up_proj", "down_proj"] as const;

/** All of them, in the order of `adapter_config.json`. */
export const loraLayers: readonly [...typeof attention, ...typeof mlp] = [...attention, ...mlp];

/** Names of groups of them. */
export const loraGroups = ["all", "attention", "mlp"] as const;
export type LoraGroup = (typeof loraGroups)[number];

const layersOf: Readonly<Record<LoraGroup, readonly LoraTarget[]>> = {
  all: loraLayers,
  attention,
  mlp,
};

/** Without duplicates, in the order of {@link loraLayers}. */
export function loraTargetsOf(targets: LoraGroup | readonly LoraTarget[]): readonly LoraTarget[] {
  const named: readonly LoraTarget[] = typeof targets === "string" ? layersOf[targets] : targets;
  return loraLayers.filter((layer) => named.includes(layer));
}

/** The group that has exactly these layers; null for others. */
export function loraGroupOf(targets: LoraGroup | readonly LoraTarget[] = "all"): LoraGroup | null {
  const layers = loraTargetsOf(targets).join();
  return loraGroups.find((group) => layersOf[group].join() === layers) ?? null;
}
