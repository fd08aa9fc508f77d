// Two thousand requests from the generated contract, valid, invalid and extreme: the server never fails, and every
// error has the standard body with a code of the catalogue. The seed differs in each run and is in the title; FUZZ_SEED
// repeats one. `npm run proof -- fuzz-api` sends 200,000.
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countAnswered, FUZZ_SETTINGS, fuzzApi } from "../fuzz/fuzz-api.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const REQUESTS = 2000;
const MAX_RUNS = 400;
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment({ env: FUZZ_SETTINGS });
});
afterAll(() => environment?.stop());

describe(`with FUZZ_SEED=${seed}`, () => {
  it("rejects invalid requests with its own errors, 2,000 times, without a 5xx", async () => {
    const report = await fuzzApi(environment, { total: REQUESTS, seed, batch: 5 });
    expect(report.failures.slice(0, 10)).toEqual([]);
    expect(countAnswered(report)).toBeGreaterThanOrEqual(REQUESTS);
    const refusedCount = Object.values(report.codes).reduce((sum, each) => sum + each);
    expect(refusedCount).toBeGreaterThan(REQUESTS * 0.6);
    expect(Object.keys(report.codes).length).toBeGreaterThan(10);
    expect((await createHttpCaller(environment).get("/runs?limit=1")).status).toBe(200);
    const [runs] = await environment.query<{ count: number }>("select count(*)::int as count from runs");
    expect(runs!.count).toBeLessThan(MAX_RUNS);
  });
});
