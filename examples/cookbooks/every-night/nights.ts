/**
 * A shop that learns from its customers every night: three nights, and a night after which all thumbs were
 * inverted. Run it with a folder and a seed.
 */
import { join, resolve } from "node:path";
import { createModelServer, evaluate, improve, loadConfig, loadImproveConfig } from "agent-trainer";
import { liveThrough, test } from "./customers.ts";

const [folder = "every-night", seed = "0", conversations = "667"] = process.argv.slice(2);
const here = import.meta.dirname;
const store = join(folder, "production");
const rounds = join(folder, "improve");
const overrides = [
  `folder=${JSON.stringify(resolve(rounds))}`,
  `collect.store=${JSON.stringify(resolve(store))}`,
];
const given = loadImproveConfig(join(here, "improve.yaml"), overrides);
const config = {
  ...given,
  train: { ...given.train, overrides: [...given.train.overrides, `trainer.seed=${seed}`] },
};
const { config: shop } = loadConfig({ file: join(here, "../../shop/shop.yaml") });

let model = "builtin:shop-tiny";
const success = async (name: string): Promise<number> => {
  const evaluation = join(folder, "tests", name);
  const { summary } = await evaluate({ config: shop, model, dataset: test, folder: evaluation });
  return summary.reward?.mean ?? 0;
};
const round3 = (value: number): number => Math.round(value * 1000) / 1000;
const days: object[] = [{ day: 0, test: round3(await success("0")) }];
console.error(JSON.stringify(days[0]));

for (const [i, wrong] of [0.2, 0.2, 0.2, 1].entries()) {
  const day = i + 1;
  const begin = performance.now();
  let answered: number;
  {
    await using server = await createModelServer({ models: [{ name: "shop", model }], store });
    const { url } = await server.listen();
    const name = `day-${seed}-${day}`;
    answered = await liveThrough({ url, name, conversations: Number(conversations), wrong });
  }
  const result = await improve({ config });
  if (result.status === "handed over") model = rounds;
  const found = {
    day,
    wrongThumbs: wrong,
    answeredRight: round3(answered),
    status: result.status,
    gate: result.gate?.difference,
    missedBy: result.gate?.misses.map(({ missedBy }) => missedBy),
    seconds: Math.round((performance.now() - begin) / 1000),
    test: round3(await success(String(day))),
  };
  days.push(found);
  console.error(JSON.stringify(found));
}

console.log(JSON.stringify({ seed: Number(seed), conversations: Number(conversations), days }));
