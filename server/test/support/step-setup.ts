// The set-up that tests of the steps of a run share: one database for the file, and before each test a new runtime, two
// equivalent providers and a claimed run. The returned objects stay the same; each test finds them with new contents.

import { afterAll, beforeAll, beforeEach } from "vitest";
import { findLatestAttempt } from "../../src/db/attempts/attempts.ts";
import type { RunClaim } from "../../src/db/run-claims.ts";
import type { Offer } from "../../src/providers/provider.ts";
import type { RunTimeouts } from "../../src/runs/core/run-settings.ts";
import {
  claimRun,
  createFakeProvider,
  createRuntime,
  createStepServices,
  createTestProviders,
  type FakeProvider,
  type TestRuntime,
} from "./step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "./test-database.ts";

type StepOptions = {
  /** What both providers offer. */
  offer?: Partial<Offer>;
  timeouts?: Partial<RunTimeouts>;
  deadlineSeconds?: number;
};

/** Call once at the top of a test file. */
export function setUpStep(defaults: StepOptions = {}) {
  const database = {} as TestDatabase;
  const runtime = {} as TestRuntime;
  const first = {} as FakeProvider;
  const second = {} as FakeProvider;
  const claim = {} as RunClaim;
  const providers = {} as ReturnType<typeof createTestProviders>;
  const services = {} as ReturnType<typeof createStepServices>;

  /** Configures these providers and no others. */
  const use = (...fakes: FakeProvider[]) => {
    Object.assign(providers, createTestProviders(fakes, runtime.clock));
    Object.assign(services, createStepServices({ database: database.db, runtime, providers }));
  };
  const reset = async ({ offer, timeouts, deadlineSeconds }: StepOptions) => {
    createRuntime(timeouts, runtime);
    createFakeProvider("first", { equivalence: "flux", preference: 1, ...offer }, first);
    createFakeProvider("second", { equivalence: "flux", preference: 2, ...offer }, second);
    use(first, second);
    Object.assign(claim, await claimRun(database.db, { deadlineSeconds }));
  };
  /** The latest attempt of the first request. */
  const latestAttempt = async () => (await findLatestAttempt(database.db, claim.run_id, 0))!;

  beforeAll(async () => void Object.assign(database, await startTestDatabase()));
  beforeEach(() => reset(defaults));
  afterAll(() => database.stop?.());
  return { database, runtime, first, second, claim, providers, services, use, reset, latestAttempt };
}
