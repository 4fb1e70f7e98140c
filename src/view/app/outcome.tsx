/** What was expected, what came, and what it earned: at the top of an episode. */
import type { ViewEpisode } from "../api/conversation.ts";
import { clipText } from "../episode/visible-text.ts";
import { reward, shortNumber } from "./format.ts";

const maxCharacters = 2000;

/** What the agent returned, else what the model said last. */
function gotOf({ output, trajectories }: ViewEpisode): string {
  if (output !== "") return output;
  return (
    trajectories.flatMap(({ calls }) => calls).findLast(({ response }) => response.text !== "")
      ?.response.text ?? ""
  );
}

/** A part of the reward as a bar, where it is from 0 to 1. */
function Part({ name, value }: { name: string; value: number }) {
  const isShare = value >= 0 && value <= 1;
  return (
    <>
      <span class="part-name">{name}</span>
      {isShare ? <meter class="part" min={0} max={1} value={value} aria-label={name} /> : <span />}
      <span class="number">{shortNumber(value)}</span>
    </>
  );
}

export function Outcome({ view }: { view: ViewEpisode }) {
  const { expected, ending, isBad, isCorrect, signals } = view;
  const parts = Object.entries(signals);
  const got = gotOf(view);
  return (
    <section class={`panel outcome ${isBad ? "bad" : "good"}`} aria-label="Outcome">
      {expected !== null && (
        <div>
          <h3>Expected</h3>
          <div class="answer" dir="auto" tabIndex={0}>
            {clipText(expected, maxCharacters)}
          </div>
        </div>
      )}
      <div>
        <h3>
          Got{" "}
          {isCorrect !== null && (
            <span class={isCorrect ? "good" : "bad"}>
              {isCorrect ? "✓ correct" : "✕ incorrect"}
            </span>
          )}
        </h3>
        <div class="answer" dir="auto" tabIndex={0}>
          {got === "" ? "nothing" : clipText(got, maxCharacters)}
        </div>
      </div>
      <div>
        <h3>Reward</h3>
        <span class="figure">{reward(view.reward)}</span>
      </div>
      {parts.length > 0 && (
        <div>
          <h3>Parts of the reward</h3>
          <div class="parts-of-reward">
            {parts.map(([name, value]) => (
              <Part key={name} name={name} value={value} />
            ))}
          </div>
        </div>
      )}
      <p class={`ending small ${isBad ? "bad" : "dim"}`} role="status">
        {ending}
      </p>
    </section>
  );
}
