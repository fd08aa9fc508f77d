// What a screen reader hears of runs that changed their state: one sentence, at most once in five seconds.
import { runStateName } from "../parts/run-states.ts";
import { text } from "../text/text.ts";
import type { TrayRun } from "./tray-runs.ts";

export const ANNOUNCEMENT_INTERVAL_MS = 5000;

/** The sentence for runs whose state differs from the one that was announced last; undefined if none does. */
export function announcementOf(runs: readonly TrayRun[], announced: ReadonlyMap<string, string>): string | undefined {
  const changed = runs.filter(({ run_id, status }) => announced.get(run_id) !== status);
  const sentences = changed.map(({ prompt, status }) =>
    text.tray.announce(prompt ?? text.run.noPrompt, text.run.states[runStateName(status)]),
  );
  return sentences.length > 0 ? sentences.join(". ") : undefined;
}
