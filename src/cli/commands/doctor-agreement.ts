/** `agent-trainer doctor agreement`: whether an evaluator says what people said, and what it will cost. */
import { readFileSync } from "node:fs";
import type { Evaluator } from "../../core/agent.ts";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import { llmJudge } from "../../evaluators/judge/llm-judge.ts";
import {
  agreementText,
  compareWithThumbs,
  type ThumbsReport,
} from "../../launch/evaluate/agreement/thumbs.ts";
import { loadExport } from "../../launch/load-module.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { countUsage, type Usage } from "../load/count-usage.ts";
import {
  chatEndpoint,
  chatHelp,
  type EndpointFlags,
  endpointHelp,
} from "../load/evaluated-model.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { numberBetween, wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";
import { createLiveLine } from "../terminal/live-line.ts";
import { safeText } from "../terminal/terminal.ts";

const help = `
Scores answers that people rated, from feedback.jsonl of a folder that agent-trainer curate made, with an evaluator or
with a model that judges by a page of text, and compares its verdicts with theirs: the share of the same ones, Cohen's
kappa with its 95 % interval, and what so many scores will cost in calls, tokens, minutes, and with prices in dollars.
The exit status is 1 where kappa lies below --min-kappa, or is unknown with it.

Examples:
  $ agent-trainer doctor agreement curated --evaluator judge.ts
  $ agent-trainer doctor agreement curated --rubric rubric.md --model https://api.openai.com/v1 --model-name gpt-5-mini --key-env OPENAI_API_KEY
  $ agent-trainer doctor agreement curated --evaluator judge.ts --sample 500 --scores 15360 --min-kappa 0.4
`;

const concurrency = 8;
const timeoutMs = 300_000;
const maxPrice = 1_000_000;

interface Judge {
  readonly evaluator: Evaluator;
  /** Of a model that judges by a rubric; null where the evaluator is a function that nothing is known of. */
  readonly usage: Usage | null;
}

async function judgeOf(
  flags: EndpointFlags & { readonly evaluator?: string; readonly rubric?: string },
): Promise<Judge> {
  const endpoint = chatEndpoint(flags);
  const { evaluator: spec, rubric } = flags;
  if (
    (spec === undefined) === (rubric === undefined) ||
    (rubric === undefined) !== (endpoint === null)
  ) {
    throw new ConfigError({
      message: "What scores is either --evaluator, or --rubric with --model and --model-name.",
      hint: "For example: agent-trainer doctor agreement curated --evaluator judge.ts",
    });
  }
  if (spec !== undefined) {
    const defaults = ["evaluator", "default"];
    const folder = process.cwd();
    const found = await loadExport({ spec, folder, option: "--evaluator", defaults });
    return { evaluator: found as Evaluator, usage: null };
  }
  const path = rubric as string;
  const { usage, fetch } = countUsage();
  const text = namingFile({ path }, () => readFileSync(path, "utf8"));
  const judge = llmJudge({ ...endpoint!, rubric: text, passScore: 5, fetch });
  return { evaluator: judge as Evaluator, usage };
}

interface Cost {
  readonly scores: number;
  readonly minutes: number;
  readonly calls: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly usd: number | null;
}

interface Prices {
  readonly usdPrompt?: number | undefined;
  readonly usdSampled?: number | undefined;
}

function costOf(
  scores: number,
  { meanMs, n, failed }: ThumbsReport,
  usage: Usage | null,
  { usdPrompt, usdSampled }: Prices,
): Cost {
  const share = scores / (n + failed);
  const minutes = (scores * meanMs) / concurrency / 60_000;
  if (usage === null)
    return { scores, minutes, calls: null, promptTokens: null, completionTokens: null, usd: null };
  const promptTokens = Math.round(usage.promptTokens * share);
  const completionTokens = Math.round(usage.completionTokens * share);
  const hasPrices = usdPrompt !== undefined && usdSampled !== undefined;
  const usd = hasPrices ? (promptTokens * usdPrompt + completionTokens * usdSampled) / 1e6 : null;
  return {
    scores,
    minutes,
    calls: Math.round(usage.calls * share),
    promptTokens,
    completionTokens,
    usd,
  };
}

function format(report: ThumbsReport, cost: Cost): string {
  const { bothGood, rewardOnly, thumbOnly, bothBad, rated, failed, error, n } = report;
  const { scores, minutes, calls, promptTokens, completionTokens, usd } = cost;
  const spent = [
    `${minutes.toFixed(1)} minutes, ${concurrency} at a time`,
    ...(calls === null
      ? ["tokens are unknown: an evaluator of code does not say what it takes"]
      : [`${calls} calls`, `${promptTokens} prompt and ${completionTokens} completion tokens`]),
    ...(usd === null ? [] : [`$${usd.toFixed(2)}`]),
  ];
  return [
    `${n + failed} of ${rated} rated answers: ${agreementText(report)}`,
    `  both good ${bothGood}, both bad ${bothBad}, only the reward good ${rewardOnly}, only the thumb good ${thumbOnly}`,
    ...(failed === 0 ? [] : [`  the evaluator failed on ${failed}: ${error}`]),
    `${scores} scores will take ${spent.join(", ")}`,
    "",
  ].join("\n");
}

/** Resolves with 1 below --min-kappa. @throws ConfigError */
export const command: CliCommand = defineCommand({
  flags: (agreement) =>
    agreement
      .argument("<folder>", "folder that agent-trainer curate made")
      .option("--evaluator <path#export>", "evaluator whose scores are compared")
      .option("--rubric <file>", "page of text by which a model judges, from 0 to 10; 5 is good")
      .option("--model <url>", `${chatHelp.model}, that judges by --rubric`)
      .option("--model-name <name>", chatHelp.modelName)
      .option("--key-env <variable>", endpointHelp.keyEnv)
      .option("--sample <n>", "rated answers that are scored", wholeNumber(1), 200)
      .option("--seed <n>", "random seed of the choice", wholeNumber(0), 0)
      .option("--good <x>", "reward from which on an answer is good", numberBetween(-1e9, 1e9), 0.5)
      .option("--scores <n>", "scores whose cost is told", wholeNumber(1), 1000)
      .option(
        "--usd-prompt <x>",
        "price of a million prompt tokens of the judge in US dollars",
        numberBetween(0, maxPrice),
      )
      .option(
        "--usd-sampled <x>",
        "price of a million completion tokens of the judge in US dollars",
        numberBetween(0, maxPrice),
      )
      .option("--min-kappa <x>", "kappa that it must have", numberBetween(-1, 1)),
  help,
  async run([folder], flags, io) {
    const { sample, seed, good, scores, minKappa, json = false } = flags;
    const { evaluator, usage } = await judgeOf(flags as Parameters<typeof judgeOf>[0]);
    using interrupt = watchInterrupt(io, "Stopping.");
    const line = createLiveLine({ stream: io.stderr, isQuiet: json });
    const report = await compareWithThumbs({
      ...{ folder, evaluator, sample, seed, good, concurrency, timeoutMs },
      onProgress: (done, of) => line.show([`${done}/${of} answers scored`]),
      signal: interrupt.signal,
    }).finally(() => line.clear());
    const cost = costOf(scores, report, usage, flags);
    writeResult(io, json, { ...report, cost }, safeText(format(report, cost)));
    if (minKappa === undefined) return exitCodes.done;
    return report.kappa !== null && report.kappa >= minKappa ? exitCodes.done : exitCodes.failed;
  },
});
