// A vendor that fails in stages: 429, then 500, then no response, then recovery. Its runs fail over to equivalent
// offers and return after recovery; no run is submitted twice, and models of other vendors are not affected.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fakeBfl } from "../fake-vendors/bfl.ts";
import type { FakeVendor, FaultSwitches } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { fakeGemini } from "../fake-vendors/gemini.ts";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { checkLedgerInvariants } from "./check-charges.ts";
import { waitUntilAllEnded } from "./run-load.ts";

type FailoverRun = { run_id: string; word: string; model: string; phase: string };
type Row = { run_id: string; status: string; provider: string; code: string | null; cost: unknown; seconds: number };

const ENV = {
  SUBMIT_SECONDS: "4",
  UNKNOWN_SECONDS: "5",
  BREAKER_FAILURES: "3",
  BREAKER_SECONDS: "2",
  RUN_DEADLINE_SECONDS: "90",
  PUBLIC_URL_IS_REACHABLE: "true",
};
const FAILING_MODEL = "flux-dev";
const HEALTHY_MODEL = "nanobanana";
const UNLIMITED = 1_000_000;
const PHASES: { name: string; switches: Partial<FaultSwitches> }[] = [
  { name: "well", switches: {} },
  { name: "429", switches: { refuse: { times: UNLIMITED, status: 429, headers: { "retry-after": "1" } } } },
  { name: "500", switches: { refuse: { times: UNLIMITED, status: 500 } } },
  { name: "silent", switches: { refuse: undefined, hang: { times: UNLIMITED, when: "before" } } },
  { name: "well again", switches: { refuse: undefined, hang: undefined } },
];

export async function failingVendorCampaign(
  size: { seconds: number; isTimed: boolean },
  log: Log,
): Promise<CampaignReport> {
  const [first, second, other] = [await fakeFal.start(), await fakeBfl.start(), await fakeGemini.start()];
  const env = { ...fakeFal.env(first), ...fakeBfl.env(second), ...fakeGemini.env(other), ...ENV };
  const environment = await startTestEnvironment({ roles: "split", env });
  const posted: FailoverRun[] = [];
  try {
    await postForSeconds(environment, posted, { phase: "warm", seconds: 3 });
    for (const { name, switches } of PHASES) {
      Object.assign(first.switches, structuredClone(switches));
      if (name === "well again") await waitUntilRecovered(environment);
      await postForSeconds(environment, posted, { phase: name, seconds: size.seconds });
      log(`fal is ${name}: ${await countOpenCircuits(environment)} of its circuit breakers are open`);
    }
    await waitUntilAllEnded(environment, 60);
    const findings = await checkResults(environment, posted, [first, second, other], size.isTimed);
    return { name: `a vendor that fails in three ways under ${posted.length} runs`, results: findings, notes: [] };
  } finally {
    await environment.stop();
    for (const fakeVendor of [first, second, other]) await fakeVendor.close();
  }
}

async function postForSeconds(
  environment: TestEnvironment,
  posted: FailoverRun[],
  { phase, seconds }: { phase: string; seconds: number },
) {
  const posts: Promise<void>[] = [];
  const until = Date.now() + seconds * 1000;
  for (let index = 0; Date.now() < until; index++) {
    posts.push(post(environment, posted, { model: index % 4 === 0 ? FAILING_MODEL : HEALTHY_MODEL, phase }));
    await pause(80);
  }
  await Promise.all(posts);
}

async function post(
  environment: TestEnvironment,
  posted: FailoverRun[],
  { model, phase }: { model: string; phase: string },
): Promise<void> {
  const word = `w${randomUUID().replaceAll("-", "")}`;
  const response = await fetch(`${environment.url}/api/v1/runs/generate`, {
    method: "POST",
    headers: { authorization: `Bearer ${environment.key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: `an image of ${word}`, model_type: model }),
  });
  const { run_id } = (await response.json()) as { run_id: string };
  posted.push({ run_id, word, model, phase });
}

const countOpenCircuits = async (environment: TestEnvironment) =>
  (await environment.query("select 1 from circuit_breakers where provider = 'fal' and open_until is not null")).length;

/** One run after the other is tried until the circuit breaker of the vendor's offer closes. */
async function waitUntilRecovered(environment: TestEnvironment): Promise<void> {
  const until = Date.now() + 60_000;
  for (const spare: FailoverRun[] = []; (await countOpenCircuits(environment)) > 0 && Date.now() < until; ) {
    await post(environment, spare, { model: FAILING_MODEL, phase: "healing" });
    await pause(500);
  }
}

async function checkResults(
  environment: TestEnvironment,
  posted: FailoverRun[],
  fakeVendors: FakeVendor[],
  isTimed: boolean,
): Promise<CheckResult[]> {
  const rows = await environment.query<Row>(
    `select run_id, status, provider, error->>'code' as code, cost,
       extract(epoch from finished_at - created_at)::float as seconds from runs where run_id = any($1::uuid[])`,
    [posted.map(({ run_id }) => run_id)],
  );
  const ledgers = new Map(rows.map((row) => [row.run_id, row]));
  const of = (model: string, ...phases: string[]) =>
    posted
      .filter((each) => each.model === model && phases.includes(each.phase))
      .map(({ run_id }) => ledgers.get(run_id)!);
  const by = (provider: string, runs: Row[]) =>
    runs.filter((run) => run.status === "completed" && run.provider === provider);
  const jobs = fakeVendors.flatMap(({ ledger }) => ledger.map(({ request }) => JSON.stringify(request)));
  const twice = posted.filter(({ word }) => jobs.filter((job) => job.includes(word)).length > 1);
  const ill = of(FAILING_MODEL, "429", "500", "silent");
  const lost = ill.filter(({ status }) => status !== "completed");
  const reported = (runs: Row[]) => `fal ${by("fal", runs).length}, bfl ${by("bfl", runs).length} of ${runs.length}`;
  const [before, during] = [p99(of(HEALTHY_MODEL, "well")), p99(of(HEALTHY_MODEL, "429", "500", "silent"))];
  const timing = `${before.toFixed(2)} s before, ${during.toFixed(2)} s during: ${(during / before).toFixed(2)}×`;
  return [
    {
      invariant: "before the failure the preferred vendor serves its runs",
      passed: by("fal", of(FAILING_MODEL, "well")).length === of(FAILING_MODEL, "well").length,
      observed: reported(of(FAILING_MODEL, "well")),
    },
    {
      invariant: "during 429 every run fails over",
      passed: by("bfl", of(FAILING_MODEL, "429")).length === of(FAILING_MODEL, "429").length,
      observed: reported(of(FAILING_MODEL, "429")),
    },
    {
      invariant: "during 500 and no response the runs fail over too; only trial requests are lost",
      passed: by("bfl", ill).length >= ill.length * 0.85,
      observed: reported(ill),
    },
    {
      invariant: "lost runs have an unknown outcome and cost nothing",
      passed: lost.every(({ code, cost }) => code === "provider_outcome_unknown" && cost === null),
      observed: `${lost.length} lost ${JSON.stringify(lost.filter(({ code }) => code !== "provider_outcome_unknown").slice(0, 2))}`,
    },
    {
      invariant: "no run was submitted twice",
      passed: twice.length === 0,
      observed: `${twice.length} of ${posted.length}`,
    },
    {
      invariant: "after recovery the preferred vendor serves its runs again",
      passed: by("fal", of(FAILING_MODEL, "well again")).length >= of(FAILING_MODEL, "well again").length * 0.9,
      observed: reported(of(FAILING_MODEL, "well again")),
    },
    {
      invariant: "models of other vendors are not affected",
      passed: of(HEALTHY_MODEL, ...PHASES.map(({ name }) => name)).every(({ status }) => status === "completed"),
      observed: "all completed",
    },
    ...(isTimed
      ? [
          {
            kind: "speed" as const,
            invariant: "the p99 latency of other models stays within 1.5 times",
            passed: during <= before * 1.5,
            observed: timing,
          },
        ]
      : []),
    ...(await checkLedgerInvariants(environment)),
  ];
}

function p99(runs: Row[]): number {
  const seconds = runs.map((run) => run.seconds).sort((a, b) => a - b);
  return seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * 0.99))] ?? Number.NaN;
}
