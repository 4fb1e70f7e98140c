/** Leads to the episodes of a step. */
import { useState } from "preact/hooks";
import type { RunEntry } from "../api/runs.ts";
import { linkTo } from "./route.ts";

export function StepSlider({ run, steps }: { run: RunEntry; steps: readonly number[] }) {
  const [at, setAt] = useState(steps.length - 1);
  const step = steps[Math.min(at, steps.length - 1)];
  if (step === undefined) return null;
  return (
    <section aria-label="Episodes of a step" class="panel">
      <header>
        <h2>What did it do?</h2>
        <a class="end" href={linkTo("episodes", run.key, "", { step })}>
          Episodes of step {step}
        </a>
      </header>
      <label class="row">
        <span class="number nowrap">Step {step}</span>
        <input
          class="grow"
          type="range"
          min={0}
          max={steps.length - 1}
          value={at}
          aria-valuetext={`step ${step}`}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
      </label>
    </section>
  );
}
