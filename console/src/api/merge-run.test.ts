import type { Run } from "@gesso/client";
import { expect, it } from "vitest";
import { mergeRun } from "./merge-run.ts";

const [EARLY, LATE] = ["2026-11-16T10:00:00.000Z", "2026-11-16T10:00:01.000Z"];
const attempts = [{ provider: "sandbox" }] as NonNullable<Run["attempts"]>;
type Reading = Pick<Run, "updated_at" | "attempts">;

it("takes the first reading of a run as it is", () => {
  expect(mergeRun(undefined, { updated_at: EARLY })).toEqual({ updated_at: EARLY });
});

it("keeps the attempts if a list, which has none, is read later", () => {
  const known: Reading = { updated_at: EARLY, attempts };
  expect(mergeRun(known, { updated_at: EARLY })).toEqual(known);
  expect(mergeRun(known, { updated_at: LATE })).toEqual({ updated_at: LATE, attempts });
});

it("takes the attempts of a later reading", () => {
  expect(mergeRun({ updated_at: EARLY, attempts }, { updated_at: LATE, attempts: [] })).toEqual({
    updated_at: LATE,
    attempts: [],
  });
});

it("keeps a state that is newer than the one that was read", () => {
  const known = { updated_at: LATE, attempts };
  expect(mergeRun(known, { updated_at: EARLY, attempts: [] })).toBe(known);
});
