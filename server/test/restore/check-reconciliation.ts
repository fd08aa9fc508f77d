// After the restore: `admin.reconcile` names the lost runs whose files and jobs remain, and no other run, and event
// readers of the lost period receive an error.
import { globSync } from "node:fs";
import { join } from "node:path";
import { createClient, GessoError } from "@gesso/client";
import type { Reconciliation } from "../../src/contract/schemas/reconciliation.ts";
import { createHttpCaller, readSandboxLedger } from "../support/api-caller.ts";
import type { CheckResult } from "../support/campaign.ts";
import type { TestEnvironment } from "../support/test-environment.ts";

/** Where a reader of all events is now. */
export async function readEventPosition(environment: TestEnvironment): Promise<string> {
  const { body } = await createHttpCaller(environment).get("/events", { accept: "application/json" });
  return body.last_id;
}

export async function checkReconciliation(
  environment: TestEnvironment,
  { time, accepted }: { time: string; accepted: string[] },
): Promise<CheckResult[]> {
  const since = new Date(time).toISOString();
  const query = `since=${since}&limit=1000&max_seconds=120`;
  const { body } = await createHttpCaller(environment).get(`/admin/reconciliation?${query}`);
  const { data, comparisons, has_more } = body as Reconciliation;
  const rows = await environment.query<{ run_id: string }>("select run_id from runs");
  const known = new Set(rows.map(({ run_id }) => run_id));
  const lost = new Set(accepted.filter((runId) => !known.has(runId)));
  const paths = globSync("t/*/r/*/*", { cwd: join(environment.storageDir, "objects") });
  const withFile = paths.map((path) => path.split("/")[3]!).filter((runId) => lost.has(runId));
  const withJob = (await readSandboxLedger(environment))
    .map(({ reference }) => reference?.split(".")[0] ?? "")
    .filter((runId) => lost.has(runId));
  const named = (finding: string) =>
    new Set(data.filter((each) => each.finding === finding).map(({ run_id }) => run_id));
  const compareSets = (finding: string, expected: string[], what: string): CheckResult => {
    const [is, shouldBe] = [named(finding), new Set(expected)];
    return {
      invariant: `the reconciler names exactly the lost runs ${what}`,
      passed: is.size === shouldBe.size && [...is].every((runId) => shouldBe.has(runId)) && shouldBe.size > 0,
      observed: `${is.size} named, ${shouldBe.size} of ${lost.size} lost runs`,
    };
  };
  const others = data.filter(({ finding }) => !["file_without_run", "job_without_run"].includes(finding));
  // Only the sandbox makes images here. A provider that runs in the worker has no list.
  const isCompared = comparisons.every(({ state, provider }) =>
    provider === null || provider === "sandbox" ? state === "complete" : state === "unsupported",
  );
  return [
    compareSets("file_without_run", withFile, "whose files are in the storage"),
    compareSets("job_without_run", withJob, "whose jobs the provider has"),
    {
      ...{ invariant: "the reconciler names nothing else", passed: others.length === 0 && !has_more },
      observed: others.length === 0 ? "0 others" : JSON.stringify(others.slice(0, 3)),
    },
    {
      ...{ invariant: "the reconciler compared everything", passed: isCompared },
      observed: comparisons.map(({ of, state, compared }) => `${compared} ${of} ${state}`).join(", "),
    },
  ];
}

type ReaderPositions = { before: string; ahead: string };

/** `before`: a position that is older than the point in time. `ahead`: one that the restored log does not have. */
export async function checkReaders(
  environment: TestEnvironment,
  { before, ahead }: ReaderPositions,
): Promise<CheckResult[]> {
  const read = async (after: string) => {
    const { status, body } = await createHttpCaller(environment).get(`/events?after=${after}`, {
      accept: "application/json",
    });
    return `${status} ${body.code ?? "events"}`;
  };
  const client = createClient({ baseUrl: environment.url, apiKey: environment.key });
  const streamed = await client.events
    .stream({ after: ahead })
    [Symbol.asyncIterator]()
    .next()
    .then(
      () => "an event",
      (thrown) => (GessoError.isInstance(thrown) ? thrown.code : String(thrown)),
    );
  const [told, resumed] = [await read(ahead), await read(before)];
  return [
    {
      invariant: "an event reader that was ahead is told to start over",
      passed: told === "410 event_position_lost" && streamed === "event_position_lost",
      observed: `page: ${told}; stream of the client: ${streamed}`,
    },
    {
      ...{ invariant: "an event reader that was not ahead continues", passed: resumed === "200 events" },
      observed: resumed,
    },
  ];
}
