import type { Run } from "@gesso/client";
import { expect, it } from "vitest";
import { mergeNewest } from "./merge-newest.ts";

const run = (run_id: string, status = "completed") => ({ run_id, status }) as Run;

it("puts new runs first and takes over changed ones", () => {
  const list = [run("05", "queued"), run("04", "processing"), run("03"), run("02")];
  const newest = [run("06", "queued"), run("05", "processing"), run("04")];
  expect(mergeNewest(newest, list)).toEqual([...newest, run("03"), run("02")]);
});

it("drops a run that no longer matches", () => {
  expect(mergeNewest([run("06"), run("04")], [run("05"), run("04"), run("03")])).toEqual([
    ...[run("06"), run("04"), run("03")],
  ]);
});
