/** Names that one gives to runs. They are kept in this browser: the folder of a run stays as it is. */
import type { RunEntry } from "../api/runs.ts";
import { useRemembered } from "./remember.ts";

/** The name that was given, else that of the folder. */
export function useRunName(run: RunEntry): {
  readonly name: string;
  readonly onName: (name: string) => void;
} {
  const [given, setGiven] = useRemembered(`name/${run.path}`);
  return {
    name: given === "" ? run.name : given,
    onName: (text) => {
      const name = text.trim().slice(0, 200);
      setGiven(name === run.name ? "" : name);
    },
  };
}
