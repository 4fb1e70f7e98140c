/** Keyboard: a handler per key, silent while text is being typed. */
import { useEffect, useRef } from "preact/hooks";

export type KeyHandlers = Readonly<Record<string, () => void>>;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName);

export function useKeys(handlers: KeyHandlers): void {
  const newest = useRef(handlers);
  newest.current = handlers;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target)) {
        if (event.key === "Escape") (event.target as HTMLElement).blur();
        return;
      }
      // Enter on a link or a button is theirs.
      const tag = (event.target as HTMLElement | null)?.tagName ?? "";
      if (event.key === "Enter" && /^(?:A|BUTTON|SUMMARY)$/u.test(tag)) return;
      const handle = newest.current[event.key];
      if (handle === undefined) return;
      event.preventDefault();
      handle();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
