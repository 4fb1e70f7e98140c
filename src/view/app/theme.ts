/** Light or dark: as the system has it, until one is chosen in the header. */
import { useEffect, useState } from "preact/hooks";
import { remembered, remember } from "./remember.ts";

export type Theme = "" | "light" | "dark";

const key = "theme";
const isTheme = (text: string): text is Theme => ["", "light", "dark"].includes(text);
const listeners = new Set<() => void>();

export function chosenTheme(): Theme {
  const theme = remembered(key);
  return isTheme(theme) ? theme : "";
}

export function applyTheme(): void {
  document.documentElement.style.colorScheme = chosenTheme();
}

export function chooseTheme(theme: Theme): void {
  remember(key, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

const system = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

/** What is shown; changes with the choice and with the system. */
export function useTheme(): "light" | "dark" {
  const [, setCount] = useState(0);
  useEffect(() => {
    const update = (): void => setCount((count) => count + 1);
    const media = system();
    listeners.add(update);
    media.addEventListener("change", update);
    return () => {
      listeners.delete(update);
      media.removeEventListener("change", update);
    };
  }, []);
  const chosen = chosenTheme();
  if (chosen !== "") return chosen;
  return system().matches ? "dark" : "light";
}

/** A color as a canvas takes it. @param css any color of a style sheet, such as `var(--dim)` */
export function colorOf(css: string): string {
  const probe = document.createElement("i");
  probe.style.color = css;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
