import { expect, it } from "vitest";
import { dropRun, openRuns, overallProgress, putRun, recentlyEnded, type TrayRun, type TrayRuns } from "./tray-runs.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString();
const run = (id: string, changes: Partial<TrayRun> = {}): TrayRun => ({
  run_id: id,
  status: "processing",
  run_type: "image-generation",
  progress: 0.5,
  prompt: "a fox",
  model: "flux-dev",
  image_url: null,
  amount: null,
  error_code: null,
  created_at: at(0),
  updated_at: at(1),
  ...changes,
});
const stateOf = (...runs: TrayRun[]) => runs.reduce<TrayRuns>((state, each) => putRun(state, each), {});

it("gives the same state for events in any order", () => {
  const events = [
    run("a", { status: "queued", progress: 0, updated_at: at(1) }),
    run("a", { progress: 0.4, updated_at: at(2) }),
    run("a", { status: "completed", progress: 1, updated_at: at(3) }),
  ];
  const forward = stateOf(...events);
  expect(stateOf(...events.toReversed())).toEqual(forward);
  expect(stateOf(...events, ...events)).toEqual(forward);
  expect(forward.a?.status).toBe("completed");
});

it("never opens an ended run again, even with the same time", () => {
  const ended = stateOf(run("a", { status: "failed", updated_at: at(3) }));
  expect(putRun(ended, run("a", { status: "processing", updated_at: at(3) })).a?.status).toBe("failed");
});

it("has the prompt of a run that was read before its last event and arrives after it", () => {
  const event = run("a", { progress: 0.6, prompt: null, model: null, updated_at: at(2) });
  const read = run("a", { progress: 0.5, updated_at: at(1) });
  expect(stateOf(event, read).a).toEqual({ ...event, prompt: "a fox", model: "flux-dev" });
});

it("shows processing runs before queued ones, and older before newer", () => {
  const state = stateOf(
    run("queued", { status: "queued", created_at: at(0) }),
    run("second", { created_at: at(2) }),
    run("first", { created_at: at(1) }),
    run("done", { status: "completed" }),
  );
  expect(openRuns(state).map(({ run_id }) => run_id)).toEqual(["first", "second", "queued"]);
});

it("shows the last four runs that ended within ten minutes", () => {
  const ended = Array.from({ length: 6 }, (_, index) =>
    run(`run-${index}`, { status: "completed", updated_at: at(index) }),
  );
  const shown = recentlyEnded(stateOf(...ended), Date.parse(at(30)), 4);
  expect(shown.map(({ run_id }) => run_id)).toEqual(["run-5", "run-4", "run-3", "run-2"]);
  expect(recentlyEnded(stateOf(...ended), Date.parse(at(0)) + 11 * 60_000, 4)).toEqual([]);
});

it("drops a run and measures the progress of the others", () => {
  const state = stateOf(run("a", { progress: 0.2 }), run("b", { progress: 0.6 }));
  expect(overallProgress(state)).toBeCloseTo(0.4);
  expect(overallProgress(dropRun(dropRun(state, "a"), "b"))).toBeUndefined();
});
