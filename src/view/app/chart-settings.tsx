/** Smoothing and scale, the same for all charts of a page, and remembered. */
import { useRemembered } from "./remember.ts";

export interface ChartSettings {
  readonly smoothing: number;
  readonly isLog: boolean;
}

export interface ChartControls extends ChartSettings {
  readonly onSmoothing: (weight: number) => void;
  readonly onLog: (isLog: boolean) => void;
}

export function useChartSettings(): ChartControls {
  const [smoothing, setSmoothing] = useRemembered("smoothing");
  const [log, setLog] = useRemembered("log");
  const weight = Number(smoothing);
  return {
    smoothing: weight >= 0 && weight < 1 ? weight : 0,
    isLog: log === "1",
    onSmoothing: (value) => setSmoothing(String(value)),
    onLog: (isLog) => setLog(isLog ? "1" : ""),
  };
}

export function ChartSettingsBar({ smoothing, isLog, onSmoothing, onLog }: ChartControls) {
  return (
    <span class="row small settings">
      <label class="row">
        Smoothing
        <input
          type="range"
          min={0}
          max={0.98}
          step={0.02}
          value={smoothing}
          aria-valuetext={smoothing === 0 ? "none" : smoothing.toFixed(2)}
          onInput={(event) => onSmoothing(Number(event.currentTarget.value))}
        />
      </label>
      <label class="row">
        <input
          type="checkbox"
          checked={isLog}
          onChange={(event) => onLog(event.currentTarget.checked)}
        />
        log
      </label>
    </span>
  );
}
