import { createClient } from "@gesso/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSandboxLedger } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const SMALL = { width: 64, height: 64 };
let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment({ roles: "split", env: { SUBMIT_SECONDS: "8" } });
});
afterAll(() => environment?.stop());

const newClient = () => createClient({ baseUrl: environment.url, apiKey: environment.key });

describe("a deploy", () => {
  it("finishes the submissions in progress: no outcome is unknown, even with a provider without lookup", async () => {
    const { images } = newClient();
    const calls = Array.from({ length: 12 }, (_, index) =>
      images.generate({ prompt: `[sandbox:accept_delay=2] deploy ${index}`, model_type: "vendora", ...SMALL }),
    );
    const ids = (await Promise.all(calls)).map((run) => run.run_id);
    const counted = () =>
      environment.query("select count(*)::int as count from attempts where run_id = any($1::uuid[])", [ids]);
    await expect.poll(counted).toEqual([{ count: 12 }]);

    await environment.stopGracefully("worker");
    await environment.start("worker");
    const runs = await Promise.all(calls.map((call) => call.wait({ timeout: 60_000 })));
    expect(runs.map((run) => run.status)).toEqual(ids.map(() => "completed"));
    const unknownOutcomes = await environment.query(
      "select 1 from attempts where run_id = any($1::uuid[]) and (send_count > 1 or unknown_since is not null)",
      [ids],
    );
    expect(unknownOutcomes).toHaveLength(0);
    expect((await readSandboxLedger(environment)).filter((job) => job.answer_lost)).toHaveLength(0);
  });

  it("responds to waiting callers with the run in its current state", async () => {
    const call = newClient().images.generate({ prompt: "[sandbox:delay=8] patience", ...SMALL, sync: true });
    const answered = call.withResponse();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await environment.stopGracefully("api");
    const { data, response } = await answered;
    expect([response.status, ["queued", "processing"].includes(data.status)]).toEqual([202, true]);
    await environment.start("api");
    expect((await call.wait({ timeout: 60_000 })).status).toBe("completed");
  });
});
