/** What TRL is given: our examples as token ids and masks, and log-probabilities of a teacher and a policy. */
import { loadModelRenderer } from "../../src/backends/local/load-model.ts";
import { loadConfig } from "../../src/config/load.ts";
import { encodeExample } from "../../src/launch/finetune/examples/load-examples.ts";
import type { TokenRow } from "../../src/launch/finetune/examples/token-row.ts";
import { modelPath } from "../tinker/local-server.ts";
import { shopConversations, shopPairs, trlSettings } from "./trl-examples.ts";

export const opdLogprobs = { teacher: [-0.5, -1, -2], policy: [-1, -1, -0.5] } as const;

const plain = (rows: readonly TokenRow[] | null) => {
  const [row] = rows ?? [];
  return { ids: [...row!.tokens], mask: [...row!.mask] };
};

export async function trlInput() {
  const renderer = await loadModelRenderer(modelPath);
  const configOf = (loss: "sft" | "dpo") =>
    loadConfig({ overrides: { "model.name": modelPath, "fine_tuning.loss": loss } }).config;
  const sft = shopConversations("sft", trlSettings.examples).map((row, i) =>
    plain(encodeExample({ value: row, at: `${i}` }, configOf("sft"), renderer).rows),
  );
  const dpo = shopPairs("dpo", trlSettings.examples).map((row, i) => {
    const { rows, rejected } = encodeExample({ value: row, at: `${i}` }, configOf("dpo"), renderer);
    return { chosen: plain(rows), rejected: plain(rejected) };
  });
  return { settings: trlSettings, sft, dpo, opd: opdLogprobs };
}
