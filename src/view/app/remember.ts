/** What this browser remembers: the theme, pinned charts, names of runs. The viewer's server only reads. */
import { useState } from "preact/hooks";

const prefix = "agent-trainer/";

/** Empty where there is nothing, or the browser keeps nothing. */
export function remembered(key: string): string {
  try {
    return localStorage.getItem(prefix + key) ?? "";
  } catch {
    return "";
  }
}

export function remember(key: string, value: string): void {
  try {
    if (value === "") localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, value);
  } catch {
    // It is forgotten with the page.
  }
}

export function useRemembered(key: string): readonly [string, (value: string) => void] {
  const [value, setValue] = useState(() => remembered(key));
  return [
    value,
    (next) => {
      remember(key, next);
      setValue(next);
    },
  ];
}
