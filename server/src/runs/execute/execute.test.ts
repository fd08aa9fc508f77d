// Executes runs on a simulated engine under random schedules of crashes, wakeups, callbacks, requeues and
// cancellations. Faults that are planted into copies of execute.ts show that the invariants find them.
import { randomInt } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InvariantViolation } from "../../../test/simulation/decisions.ts";
import { runSchedule, type Schedule } from "../../../test/simulation/schedule.ts";
import type { RunOutcome, RunSteps } from "../steps.ts";
import { executeRun } from "./execute.ts";
import type { RunEngine } from "./run-engine.ts";

/** New in every run. SIMULATION_SEED repeats the schedules of an earlier one. */
const SEED = Number(process.env.SIMULATION_SEED ?? randomInt(2 ** 31));
/** The same for every planted fault in every run, because another seed may find it by another invariant first. */
const PLANTED_SEED = 20_260_118;
/** Enough for the rarest one. The schedules end with the first that finds the fault. */
const PLANTED_SCHEDULES = 20_000;
const SCHEDULES = 5000;

const schedules: fc.Arbitrary<Schedule> = fc.record({
  jobs: fc.array(
    fc.record({
      requestCount: fc.integer({ min: 1, max: 3 }),
      source: fc.constantFrom("none", "url", "earlier_job", "each_file"),
      recovery: fc.constantFrom("replay", "find", "none"),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  numbers: fc.array(fc.nat(0xffff), { maxLength: 160, size: "max" }),
});

describe("a run", () => {
  it(`keeps its invariants in ${SCHEDULES} random schedules`, async () => {
    const counts = new Map<string, number>();
    const property = fc.asyncProperty(schedules, async (schedule) => {
      const facts = await runSchedule(executeRun, schedule);
      for (const [fact, isTrue] of Object.entries(facts)) counts.set(fact, (counts.get(fact) ?? 0) + (isTrue ? 1 : 0));
    });
    const report = await fc.check(property, { seed: SEED, numRuns: SCHEDULES });
    expect(report.failed, `SIMULATION_SEED=${SEED}\n${report.errorInstance}\n${fc.defaultReportMessage(report)}`).toBe(
      false,
    );
    expect(report.numRuns).toBe(SCHEDULES);
    // Schedules that never reach a situation would prove nothing about it. The rarest one is expected about 15 times.
    for (const [fact, count] of counts) expect(count, fact).toBeGreaterThan(0);
  });

  const executeSteps = async (steps: Partial<RunSteps>): Promise<RunOutcome[]> => {
    const outcomes: RunOutcome[] = [];
    const finishRun: RunSteps["finishRun"] = async (_claim, outcome) => void outcomes.push(outcome);
    const createWakeup = () => ({ id: "wakeup", wait: async () => undefined });
    const engine: Partial<RunEngine> = { step: (_name, work) => work(), createWakeup };
    const claim = { run_id: "run", tenant_id: "tenant", epoch: 1 };
    await executeRun(claim, engine as RunEngine, { ...steps, finishRun } as RunSteps);
    return outcomes;
  };

  it("completes with an empty result if its plan has no requests", async () => {
    const outcomes = await executeSteps({ planRequests: async () => ({ requests: [] }) });
    expect(outcomes).toEqual([{ status: "completed", result: { outputs: [] }, finishedRequests: [], warnings: [] }]);
  });

  it("fails with the reason for which its result could not be stored, whichever step has found it", async () => {
    const offer = { provider: "p", upstreamModel: "m" };
    const job = { task: "video.generate", model: "video-default" } as const;
    const planRequests = async () => ({ requests: [{ requestIndex: 0, jobIndex: 0, job, offer }] });
    const details = { reason: "output_too_large", max_bytes: 10, setting: "MAX_OUTPUT_MEGABYTES" };
    const notStored = { state: "not_stored", fault: { code: "storage_failed", details } } as const;
    const failed = { status: "failed", error: { code: "storage_failed", details } };
    const collecting = await executeSteps({
      planRequests,
      submit: async () => ({ state: "running", attemptNumber: 1 }),
      collectResult: async () => notStored,
    });
    expect(collecting).toMatchObject([failed]);
    expect(await executeSteps({ planRequests, submit: async () => notStored })).toMatchObject([failed]);
  });
});

/** The `from` text occurs exactly once in execute.ts, or the test of the fault fails. */
type PlantedFault = { from: string; to: string; foundBy: string };

const PLANTED_FAULTS: Record<string, PlantedFault> = {
  "a lost cancel": {
    from: `if (reason === "cancel") return cancelRequest(execution, request);`,
    to: "",
    foundBy: "an observed cancellation ends the run as canceled",
  },
  "a cancellation that never reaches the provider": {
    from: "        return cancelRequest(execution, request);",
    to: "        return registered;",
    foundBy: "a running job of a canceled run is canceled at the provider",
  },
  "a double submit after a crash: every round is a new attempt": {
    from: "{ attemptNumber, wakeupId: wakeup.id }",
    to: "{ attemptNumber: round + 1, wakeupId: wakeup.id }",
    foundBy: "no double submit",
  },
  "a finish that is skipped for failed runs": {
    from: "if (outcome) await",
    to: `if (outcome && outcome.status !== "failed") await`,
    foundBy: "a run ends exactly once",
  },
  "the result of another job: requests of all jobs are added up": {
    from: "filesByJob[jobIndex] = [...(filesByJob[jobIndex] ?? []), ...files];",
    to: "filesByJob[jobIndex] = [...filesByJob.flat(), ...files];",
    foundBy: "requests and results belong to their job",
  },
  "the sources of another job: all requests are executed as one job": {
    from: "of groupByJob(plan.requests)",
    to: "of [plan.requests]",
    foundBy: "requests and results belong to their job",
  },
  "the file of another request: each request gets the first file of the job before": {
    from: "images?.slice(sourceIndex, sourceIndex + 1)",
    to: "images?.slice(0, 1)",
    foundBy: "requests and results belong to their job",
  },
  "a request for a file that the job before did not produce": {
    from: "planned.flatMap((request) => slots.assignSource(request))",
    to: "planned.map((request) => ({ ...request, sourceIndex: request.sourceSlot }))",
    foundBy: "requests and results belong to their job",
  },
  "a result credited to the offer that was planned": {
    from: `if ("offer" in submitted && submitted.offer)`,
    to: `if (submitted.state === "retry" && submitted.offer)`,
    foundBy: "requests and results belong to their job",
  },
  "a wait on a fired wakeup: the wakeup of the running job is used for the delay": {
    from: `submitted.state === "running" ? engine.createWakeup() : wakeup`,
    to: "wakeup",
    foundBy: "no wait on a fired wakeup",
  },
  "a wait on a fired wakeup: no new wakeup while the job is running": {
    from: "    wakeup = engine.createWakeup();\n",
    to: "",
    foundBy: "no wait on a fired wakeup",
  },
  "a new wakeup that is awaited and not registered": {
    from: "const registration = { wakeupId: wakeup.id,",
    to: "const registration = { wakeupId: submitted.wakeup.id,",
    foundBy: "a request waits on its registered wakeup",
  },
  "partial results dropped": {
    from: "if (failures.length > 0 && producedCount === 0) throw failures[0];",
    to: "if (failures.length > 0) throw failures[0];",
    foundBy: "partial results are kept",
  },
  "requests whose interleaving changes when they are replayed: concurrent async functions": {
    from: "return runSideBySide(",
    to: "return ((engine, flows) => Promise.allSettled(flows.map((flow) => flow(engine))))(",
    foundBy: "a replay repeats its journal",
  },
  "one request after the other": {
    from: "return runSideBySide(",
    to: `return (async (engine, flows) => {
      const ends = [];
      for (const flow of flows) ends.push(...(await runSideBySide(engine, [flow])));
      return ends;
    })(`,
    foundBy: "the requests of a job are submitted side by side",
  },
  "a run that completes although one of its requests was canceled": {
    from: `if (states.includes("canceled"))`,
    to: `if (states[0] === "canceled")`,
    foundBy: "an observed cancellation ends the run as canceled",
  },
  "a job that becomes known during a wait and is not canceled": {
    from: `jobState.state === "wait" ? cancelRequest(execution, request) : { state: "canceled" };`,
    to: `{ state: "canceled" };`,
    foundBy: "a running job of a canceled run is canceled at the provider",
  },
  "a job of an earlier invocation that is not canceled": {
    from: `submitted.state === "canceled" ? cancelRequest(execution, request) : jobState;`,
    to: "jobState;",
    foundBy: "a running job of a canceled run is canceled at the provider",
  },
  "a failed request that keeps its provider slot": {
    from: "if (hasOtherRequests)",
    to: "if (false)",
    foundBy: "a request that has ended holds no provider slot",
  },
  "a run that is completed by the first of its requests": {
    from: "requests.length > 1 ||",
    to: "",
    foundBy: "the requests of a job are submitted side by side",
  },
  "a request that is submitted before its sources are resolved": {
    from: "|| hasSources(request.job)) return undefined;",
    to: ") return undefined;",
    foundBy: "requests and results belong to their job",
  },
  "a step whose name changes when it is replayed": {
    from: `engine.step("finish",`,
    to: "engine.step(String(Math.random()),",
    foundBy: "a replay repeats its journal",
  },
};

describe("the invariants of a run find", () => {
  const source = readFileSync(new URL("./execute.ts", import.meta.url), "utf8");
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gesso-planted-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const plant = async ({ from, to }: PlantedFault, name: string): Promise<typeof executeRun> => {
    expect(source.split(from)).toHaveLength(2);
    const copy = source
      .replace(from, () => to)
      .replaceAll(/from "(\.[^"]+)"/g, (_, path) => `from "${new URL(path, import.meta.url).pathname}"`);
    const file = join(folder, `${name.replaceAll(/\W+/g, "-")}.ts`);
    writeFileSync(file, copy);
    return (await import(/* @vite-ignore */ file)).executeRun;
  };

  it.each(Object.entries(PLANTED_FAULTS))("%s", async (name, fault) => {
    const execute = await plant(fault, name);
    const property = fc.asyncProperty(schedules, async (schedule) => void (await runSchedule(execute, schedule)));
    const report = await fc.check(property, { seed: PLANTED_SEED, numRuns: PLANTED_SCHEDULES, endOnFailure: true });
    expect(report.errorInstance).toBeInstanceOf(InvariantViolation);
    expect((report.errorInstance as InvariantViolation).invariant).toBe(fault.foundBy);
    process.stdout.write(`${name}: found in schedule ${report.numRuns}\n`);
  });
});
