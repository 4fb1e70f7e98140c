/** Whether an element has come near the screen: charts below it are made when they are looked for. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export function useVisible<T extends HTMLElement>(): readonly [RefObject<T | null>, boolean] {
  const place = useRef<T>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null || isVisible) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setVisible(true);
      },
      { rootMargin: "300px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isVisible]);
  return [place, isVisible];
}
