/** From a folder of traces and feedback to files that training reads, with a report of what is in them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { messageText } from "../../core/message-text.ts";
import { DigestSet } from "../../util/digest-set.ts";
import { writeFolderAtomic, writeSynced } from "../../util/files/atomic-write.ts";
import { readFeedback } from "../store/production-store.ts";
import type { Span } from "../store/span.ts";
import { CuratedFiles, type CuratedName } from "./curated-files.ts";
import { type Label, Labels } from "./labels.ts";
import { languageOf } from "./language.ts";
import { Leaks } from "./leaks.ts";
import { type CurateReport, missingIn, quantilesOf, Tally } from "./report.ts";
import { askedText, correctedRow, exampleRow, preferenceRow, taskRow } from "./rows.ts";
import { type ScrubHook, scrubTurn } from "./scrub.ts";
import { indexSpans, type SpanIndex } from "./span-index.ts";
import { Split, type SplitOptions } from "./split.ts";
import { rebuildTurns, type Turn } from "./turns.ts";

/** What is made of which folder, and how. */
export interface CurateOptions {
  /** What `collect` filled. */
  readonly folder: string;
  /** Made by this; it must not exist. */
  readonly output: string;
  /** What is held out: whole users, or the newest conversations. @default "user" */
  readonly splitBy?: "user" | "time";
  /** How much is held out, from 0 to 0.9. @default 0.1 */
  readonly valFraction?: number;
  /** Name of an outcome of feedback that is a score: true or false, or from 0 to 1. @default none */
  readonly outcome?: string;
  /** Name of the scores that are ratings, instead of those whose name says so. @default none */
  readonly rating?: string;
  /** Whether answers without feedback are demonstrations too. @default false */
  readonly unrated?: boolean;
  /** Which records of feedback are taken, by their number in the journal from 0. @default all */
  readonly takesFeedback?: (number: number) => boolean;
  /** Called with every text before it is written, after the rules for personal data. @default none */
  readonly scrub?: ScrubHook;
  readonly signal?: AbortSignal;
}

/** From this score on an answer is good. */
const goodScore = 0.5;

/** Lengths of turns for quantiles: every one up to so many. */
const maxLengths = 1_000_000;

/**
 * Makes of a folder of production what training reads, with a report.
 * @throws ConfigError where the folder has no traces, or the output exists.
 */
export async function curate(options: CurateOptions): Promise<CurateReport> {
  const { folder, output, signal } = options;
  if (existsSync(output)) {
    throw new ConfigError({
      message: `${output} exists already.`,
      hint: "Give the name of a new folder.",
      fields: { output },
    });
  }
  const splitBy = options.splitBy ?? "user";
  const index = indexSpans(folder, () => signal?.throwIfAborted());
  if (index.spans === 0) {
    throw new ConfigError({
      message: `${folder} has no traces.`,
      hint: `Collect some first: agent-trainer collect ${folder}`,
      fields: { folder },
    });
  }
  const valFraction = options.valFraction ?? 0.1;
  const split: SplitOptions = {
    by: splitBy,
    fraction: valFraction,
    from: index.begins[Math.floor((1 - valFraction) * index.begins.length)] ?? Infinity,
  };
  let report: CurateReport | undefined;
  await writeFolderAtomic(output, async (into) => {
    report = await new Curation(options, index, split).run(into);
    await writeSynced(join(into, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
  });
  return report!;
}

function* taken<T>(
  all: Iterable<T>,
  takes: (number: number) => boolean,
): Generator<readonly [number, T]> {
  let number = 0;
  for (const one of all) {
    if (takes(number)) yield [number, one];
    number++;
  }
}

class Curation {
  readonly #options: CurateOptions;
  readonly #index: SpanIndex;
  readonly #split: Split;
  readonly #isSplit: boolean;
  readonly #labels: Labels;
  readonly #leaks = new Leaks();
  readonly #users = new DigestSet();
  readonly #tallies = {
    dropped: new Tally(),
    days: new Tally(),
    languages: new Tally(),
    models: new Tally(),
    toolCalls: new Tally(),
    toolFailures: new Tally(),
    personalData: new Tally(),
    rows: new Tally(),
    counts: new Tally(),
  };
  readonly #lengths: Record<"prompt" | "answer" | "messages", number[]> = {
    prompt: [],
    answer: [],
    messages: [],
  };

  constructor(options: CurateOptions, index: SpanIndex, split: SplitOptions) {
    this.#options = options;
    this.#index = index;
    this.#split = new Split(split, () => this.#groups());
    const { folder, outcome, rating, takesFeedback = () => true } = options;
    this.#labels = new Labels(taken(readFeedback(folder), takesFeedback), { outcome, rating });
    this.#isSplit = split.fraction > 0;
  }

  async run(into: string): Promise<CurateReport> {
    this.#findTrainingPrompts();
    const files = await CuratedFiles.create(into);
    try {
      for (const spans of this.#groups()) {
        await this.#addConversation(spans, files);
      }
    } finally {
      await files.close();
    }
    return this.#report();
  }

  *#groups(): Generator<readonly Span[]> {
    for (const spans of this.#index.groups()) {
      this.#options.signal?.throwIfAborted();
      yield spans;
    }
  }

  /** A held-out turn may come before the one of training that it repeats. */
  #findTrainingPrompts(): void {
    if (!this.#isSplit) return;
    for (const spans of this.#groups()) {
      if (this.#split.isHeldOut(spans)) continue;
      for (const turn of rebuildTurns(spans).turns) this.#leaks.add(turn);
    }
  }

  async #addConversation(spans: readonly Span[], files: CuratedFiles): Promise<void> {
    const { counts, toolCalls, toolFailures } = this.#tallies;
    const { turns, withoutText, failed } = rebuildTurns(spans);
    counts.add("withoutText", withoutText);
    counts.add("failed", failed);
    for (const { tool, error } of spans) {
      if (tool === undefined) continue;
      toolCalls.add(tool.name);
      if (error !== undefined) toolFailures.add(tool.name);
    }
    const labels = this.#labels.of(turns);
    const side = this.#split.isHeldOut(spans);
    for (const [i, turn] of turns.entries()) await this.#addTurn(turn, labels[i]!, side, files);
  }

  async #addTurn(turn: Turn, label: Label, side: boolean, files: CuratedFiles): Promise<void> {
    const { counts, dropped, personalData } = this.#tallies;
    const isLabelled = label.score !== null || label.correction !== null;
    if (turn.isRepeated && !isLabelled) return counts.add("retries");
    this.#count(turn, label);
    if (turn.flaw !== null) return dropped.add(turn.flaw);
    if (turn.isSubAgent && !isLabelled) return dropped.add("sub-agent");
    if (!turn.isEndKnown) counts.add("unknownEnds");
    if (side && this.#leaks.has(turn)) return dropped.add("held out, but in training");
    const scrubbed = await scrubTurn(turn, label.correction, this.#options.scrub ?? null);
    if (scrubbed === null) return dropped.add("by the hook");
    for (const [kind, count] of scrubbed.found) personalData.add(kind, count);
    const clean = { ...label, correction: scrubbed.correction };
    for (const [name, row] of this.#rowsOf(scrubbed.turn, clean)) {
      const isNew = await files.add(name, side, row);
      if (isNew) this.#tallies.rows.add(`${name}/${side ? "val" : "train"}`);
      else counts.add("duplicates");
    }
  }

  *#rowsOf(
    turn: Turn,
    label: Label,
  ): Generator<readonly [CuratedName, Readonly<Record<string, unknown>>]> {
    const { score, correction } = label;
    const isGood = score !== null && score >= goodScore;
    const isUnknown = score === null && correction === null;
    if (askedText(turn) !== "") yield ["tasks", taskRow(turn, label)];
    if (correction !== null) {
      yield ["demonstrations", correctedRow(turn, correction)];
      const answer = messageText(turn.completion.at(-1)!.content);
      if (correction.trim() !== answer.trim())
        yield ["preferences", preferenceRow(turn, correction)];
    } else if (isGood || (isUnknown && this.#options.unrated === true)) {
      yield ["demonstrations", exampleRow(turn)];
    }
    if (score !== null) yield ["feedback", { ...exampleRow(turn), label: isGood }];
  }

  #count(turn: Turn, { score, correction }: Label): void {
    const { counts, days, languages, models } = this.#tallies;
    counts.add("turns");
    if (turn.isSubAgent) counts.add("subAgentTurns");
    if (turn.user !== undefined) this.#users.add(turn.user);
    if (score !== null) counts.add(score >= goodScore ? "good" : "bad");
    if (correction !== null) counts.add("corrections");
    if (turn.at > 0) days.add(new Date(turn.at).toISOString().slice(0, 10));
    languages.add(languageOf(askedText(turn)));
    models.add(turn.model === "" ? "unnamed" : turn.model);
    const { prompt, answer, messages } = this.#lengths;
    if (prompt.length >= maxLengths) return;
    prompt.push(turn.prompt.reduce((sum, { content }) => sum + messageText(content).length, 0));
    answer.push(messageText(turn.completion.at(-1)!.content).length);
    messages.push(turn.completion.length);
  }

  #report(): CurateReport {
    const {
      counts,
      dropped,
      days,
      languages,
      models,
      toolCalls,
      toolFailures,
      personalData,
      rows,
    } = this.#tallies;
    const rowsOf = (name: CuratedName) => ({
      train: rows.of(`${name}/train`),
      val: rows.of(`${name}/val`),
    });
    const { prompt, answer, messages } = this.#lengths;
    const report = {
      version: 1 as const,
      folder: this.#options.folder,
      spans: this.#index.spans,
      traces: this.#index.traces,
      conversations: this.#index.conversations,
      users: this.#users.size,
      turns: counts.of("turns"),
      subAgentTurns: counts.of("subAgentTurns"),
      calls: {
        withoutText: counts.of("withoutText"),
        failed: counts.of("failed"),
        retries: counts.of("retries"),
      },
      dropped: dropped.counts(),
      unknownEnds: counts.of("unknownEnds"),
      feedback: {
        records: this.#labels.count,
        matched: this.#labels.matched,
        good: counts.of("good"),
        bad: counts.of("bad"),
        corrections: counts.of("corrections"),
        unused: this.#labels.unused,
      },
      days: days.byName(),
      languages: languages.counts(),
      models: models.counts(),
      tools: Object.fromEntries(
        Object.entries(toolCalls.counts()).map(([name, calls]) => [
          name,
          { calls, failed: toolFailures.of(name) },
        ]),
      ),
      lengths: {
        prompt: quantilesOf(prompt),
        answer: quantilesOf(answer),
        messages: quantilesOf(messages),
      },
      personalData: personalData.counts(),
      rows: {
        tasks: rowsOf("tasks"),
        demonstrations: rowsOf("demonstrations"),
        preferences: rowsOf("preferences"),
        feedback: rowsOf("feedback"),
      },
      duplicates: counts.of("duplicates"),
    };
    return { ...report, missing: missingIn(report) };
  }
}
