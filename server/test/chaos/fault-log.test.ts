// A campaign whose fault hits nothing tests nothing, so it fails.
import { expect, it } from "vitest";
import { createFaultLog } from "./fault-log.ts";

it("a campaign passes if each fault hit each of its targets in one of its rounds", () => {
  const log = createFaultLog();
  log.addHits("commit_swallowed", { "runs.accept": 0, "attempts.claim": 1 });
  log.addHits("commit_swallowed", { "runs.accept": 2, "attempts.claim": 0 });
  log.addHits("database_cut", { connections: 7 });
  const observed = "commit_swallowed: runs.accept 2, commit_swallowed: attempts.claim 1, database_cut: connections 7";
  expect(log.checkHits()).toMatchObject({ passed: true, observed });
});

it("a campaign fails if a fault missed one of its targets in all rounds, and names the target", () => {
  const log = createFaultLog();
  for (const claims of [1, 2]) log.addHits("commit_swallowed", { "runs.accept": 0, "attempts.claim": claims });
  expect(log.checkHits()).toMatchObject({
    passed: false,
    observed:
      "missed commit_swallowed: runs.accept; commit_swallowed: runs.accept 0, commit_swallowed: attempts.claim 3",
  });
});

it("a campaign fails if a fault names no target", () => {
  const log = createFaultLog();
  log.addHits("database_cut", {});
  expect(log.checkHits()).toMatchObject({ passed: false, observed: expect.stringContaining("missed database_cut") });
});
