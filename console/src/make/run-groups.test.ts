import type { Run } from "@gesso/client";
import { expect, it } from "vitest";
import { factsOfGroup, groupRuns } from "./run-groups.ts";

const run = (id: string, second: number, changes: Partial<Run> = {}) =>
  ({
    run_id: id,
    run_type: "image-generation",
    status: "completed",
    inputs: { prompt: "a fox" },
    model: "flux-dev",
    cost: { amount: 0.1, currency: "USD" },
    created_at: new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString(),
    ...changes,
  }) as Run;

it("groups runs of one prompt that were started within ten seconds", () => {
  const groups = groupRuns([run("d", 40), run("c", 12), run("b", 11), run("a", 10)]);
  expect(groups.map(({ runs }) => runs.map(({ run_id }) => run_id))).toEqual([["d"], ["a", "b", "c"]]);
});

it("keeps other prompts and other types apart and leaves out uploads", () => {
  const groups = groupRuns([
    run("c", 3, { inputs: { prompt: "a cat" } }),
    run("u", 2, { run_type: "upload" }),
    run("b", 2, { run_type: "image-edit" }),
    run("a", 1),
  ]);
  expect(groups.map(({ id }) => id)).toEqual(["c", "b", "a"]);
});

it("adds up what a group cost", () => {
  const [group] = groupRuns([run("b", 1, { status: "processing", cost: null, model: "nanobanana" }), run("a", 0)]);
  expect(factsOfGroup(group!)).toEqual({ models: ["flux-dev", "nanobanana"], completed: 1, isOpen: true, cost: 0.1 });
});
