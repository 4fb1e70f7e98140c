/**
 * `agent-trainer/evaluators`: scores for common tasks, to be used alone or as parts of one.
 *
 * @module evaluators
 */
export { exactMatch, normalizedMatch } from "./match.ts";
export type { ExactMatchOptions } from "./match.ts";
export { number } from "./number.ts";
export type { NumberOptions } from "./number.ts";
export { f1 } from "./f1.ts";
export type { F1Options } from "./f1.ts";
export { regex } from "./regex.ts";
export type { RegexOptions } from "./regex.ts";
export { multipleChoice } from "./multiple-choice.ts";
export type { MultipleChoiceOptions } from "./multiple-choice.ts";
export { json } from "./json/json.ts";
export type { FieldComparison, JsonOptions } from "./json/json.ts";
export { math } from "./math/math.ts";
export type { MathOptions } from "./math/math.ts";
export { formatPenalty, lengthPenalty } from "./penalties.ts";
export type { FormatPenaltyOptions, LengthPenaltyOptions } from "./penalties.ts";
export { weighted } from "./weighted.ts";
export type { WeightedOptions, WeightedPart } from "./weighted.ts";
export { responseText } from "./scorer.ts";
export type { AnswerOptions, Scorer, SyncScorer, TextOptions } from "./scorer.ts";
export { toolChecks } from "./tool-checks.ts";
export { functionCalls } from "./function-calls/function-calls.ts";
export type {
  ExpectedCall,
  FunctionCallsOptions,
  MadeCall,
} from "./function-calls/function-calls.ts";
export { trajectoryMatch } from "./trajectory/trajectory-match.ts";
export type { TrajectoryMatchOptions } from "./trajectory/trajectory-match.ts";
export type { ToolArgs, ToolArgsMode, ToolArgsRule } from "./trajectory/tool-args.ts";
export { instructionFollowing } from "./instructions/instruction-following.ts";
export type {
  Instruction,
  InstructionFollowingOptions,
} from "./instructions/instruction-following.ts";
export { code } from "./code/code.ts";
export type { CodeLanguage, CodeOptions, CodeTest } from "./code/code.ts";
export { llmJudge } from "./judge/llm-judge.ts";
export type { LlmJudgeOptions } from "./judge/llm-judge.ts";
export { relativeJudge } from "./judge/relative-judge.ts";
export type { GroupScorer, RelativeJudgeOptions } from "./judge/relative-judge.ts";
export type { JudgeEndpoint } from "./judge/endpoint.ts";
export { fromMastra } from "./external/from-mastra.ts";
export type { FromMastraOptions, MastraScorer } from "./external/from-mastra.ts";
export { fromOpenEvals } from "./external/from-open-evals.ts";
export type { FromOpenEvalsOptions, OpenEvaluator } from "./external/from-open-evals.ts";
export { fromScorer } from "./external/from-scorer.ts";
export type { ExternalScore, ExternalScorer, FromScorerOptions } from "./external/from-scorer.ts";
