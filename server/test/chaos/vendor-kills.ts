// The kill campaign over vendors of every kind: a queue with callbacks, one with search, self-hosted machines, one that
// responds only with the finished image, and one that can only be polled. The ledger of each vendor decides.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fakeComfyui } from "../fake-vendors/comfyui.ts";
import type { FakeVendor, FakeVendorDefinition } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { fakeOpenai } from "../fake-vendors/openai.ts";
import { fakeReplicate } from "../fake-vendors/replicate.ts";
import { fakeRunway } from "../fake-vendors/runway.ts";
import { falDocument, replicateModel } from "../model-schemas/documents.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { type CampaignReport, type CheckResult, type Log, onlyPoint, random } from "../support/campaign.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { checkLedgerInvariants } from "./check-charges.ts";
import { checkEngine } from "./check-engine.ts";
import { checkOutputs } from "./check-outputs.ts";
import { checkUnknownOutcomes } from "./check-unknown.ts";
import { createFaultLog, type FaultLog, recordKills } from "./fault-log.ts";
import { countImported, waitUntilAllEnded } from "./run-load.ts";
import { listFakeVendorJobs } from "./vendor-jobs.ts";

type VendorRequest = {
  definition: FakeVendorDefinition;
  recovery: "find" | "none";
  path: string;
  body: Record<string, unknown>;
  /** Three of four requests are for this imported model, so that they are nearly a third of all. */
  imported?: { path: string; document: unknown };
};
const IMAGE = {
  type: "object",
  required: ["url"],
  properties: { url: { type: "string" }, content_type: { type: "string" } },
};
const INPUT = { required: ["prompt"], properties: { prompt: { type: "string" } } };

/** The request for each vendor. With these five enabled, each request goes to its vendor first. */
const VENDOR_REQUESTS: VendorRequest[] = [
  {
    definition: fakeFal,
    recovery: "none",
    path: "/runs/generate",
    body: { model_type: "flux-dev", width: 256, height: 256 },
    imported: {
      path: "acme/sketch",
      document: falDocument("acme/sketch", INPUT, { output: { properties: { image: IMAGE } } }),
    },
  },
  {
    definition: fakeReplicate,
    recovery: "find",
    path: "/runs/generate",
    body: { model_type: "flux-kontext-max" },
    imported: { path: "acme/draw", document: replicateModel("acme/draw", INPUT) },
  },
  {
    definition: fakeComfyui,
    recovery: "find",
    path: "/runs/generate",
    body: { model_type: "qwen-image-edit", width: 256, height: 256 },
  },
  { definition: fakeOpenai, recovery: "none", path: "/runs/generate", body: { model_type: "vendora" } },
  { definition: fakeRunway, recovery: "none", path: "/runs/reference", body: { aspect_ratio: "1:1" } },
];
const ENV = {
  // Outputs are compared with the bytes of the vendors.
  PROVENANCE: "off",
  SUBMIT_SECONDS: "8",
  UNKNOWN_SECONDS: "20",
  LOOKUP_GRACE_SECONDS: "2",
  RUN_DEADLINE_SECONDS: "240",
  PUBLIC_URL_IS_REACHABLE: "true",
  // Every vendor fails all the time: this campaign tests unknown outcomes, so the circuit breaker stays closed.
  BREAKER_FAILURES: "100000",
};
/** M5: intent written. M6: sent, no response. M7: response read, or timed out. M8: waiting, and what follows. */
const CRASH_POINTS_UNDER_TEST = (
  ["intent_written", "answer_read", "response_spooled", "given_up", "result_read", "file_stored"] as const
).filter((point) => onlyPoint === undefined || onlyPoint === point);
/**
 * The vendors whose outcome may stay unknown after a crash at this point. Everywhere else Gesso has the result, or can
 * ask for it: every run completes. In a group, another request may be about to be sent when the worker crashes; if it
 * never left, fal cannot call back either.
 */
const MAY_BE_UNKNOWN: Record<string, string[]> = {
  intent_written: [fakeFal.id, fakeOpenai.id, fakeRunway.id],
  answer_read: [fakeFal.id, fakeOpenai.id, fakeRunway.id],
  given_up: [fakeOpenai.id, fakeRunway.id],
  response_spooled: [],
  result_read: [],
  file_stored: [],
};
/** These lose the first response, so that there is an unknown outcome. */
const VENDORS_THAT_LOSE_RESPONSES = [fakeOpenai.id, fakeRunway.id];

/** Groups of requests that are under way together when the worker crashes; each vendor is the first in turn. */
function selectVendors(crashPoint: string, round: number): VendorRequest[][] {
  const start = round % VENDOR_REQUESTS.length;
  const order = [...VENDOR_REQUESTS.slice(start), ...VENDOR_REQUESTS.slice(0, start)];
  if (MAY_BE_UNKNOWN[crashPoint]!.length > 0) return [order];
  // A request that is alone is at the crash point when the worker crashes, so its result cannot be lost.
  const synchronous = VENDOR_REQUESTS.filter(({ definition }) => definition === fakeOpenai);
  return crashPoint === "response_spooled" ? [synchronous] : [synchronous, [order[0]!]];
}

/** `crashPoint` is where the worker crashed while the run was in progress; undefined under random kills. */
type VendorRun = { run_id: string; vendor: string; word: string; crashPoint: string | undefined };
type VendorCampaign = {
  environment: TestEnvironment;
  fakeVendors: Map<string, FakeVendor>;
  posted: VendorRun[];
  faults: FaultLog;
};

export async function vendorKillCampaign(runs: number, log: Log): Promise<CampaignReport> {
  const fakeVendors = new Map<string, FakeVendor>();
  for (const { definition, imported } of VENDOR_REQUESTS) {
    const fakeVendor = await definition.start();
    fakeVendors.set(definition.id, fakeVendor);
    if (imported) fakeVendor.switches.published[imported.path] = imported.document;
  }
  const env = Object.assign(
    {},
    ...VENDOR_REQUESTS.map(({ definition }) => definition.env(fakeVendors.get(definition.id)!)),
    ENV,
  );
  const faults = createFaultLog();
  const environment = recordKills(await startTestEnvironment({ roles: "split", env }), faults);
  const campaign: VendorCampaign = { environment, fakeVendors, posted: [], faults };
  try {
    await importModels(environment);
    const aimed = await killAtCrashPoints(
      campaign,
      Math.ceil(runs / 3 / (CRASH_POINTS_UNDER_TEST.length * VENDOR_REQUESTS.length)),
      log,
    );
    const kills = onlyPoint === undefined ? await killUnderLoad(campaign, runs - campaign.posted.length, log) : 0;
    await waitUntilAllEnded(environment, 150);
    return {
      name: `${campaign.posted.length} runs at five vendors, ${await countImported(environment)} of imported models, ${aimed} kills at M5 to M8 and ${kills} at random`,
      results: await checkVendorLedgers(campaign),
      notes: [],
      counts: { runs: campaign.posted.length, kills: faults.killCount() },
    };
  } finally {
    await environment.stop();
    for (const fakeVendor of fakeVendors.values()) await fakeVendor.close();
  }
}

async function importModels(environment: TestEnvironment): Promise<void> {
  for (const { definition, imported } of VENDOR_REQUESTS) {
    if (!imported) continue;
    const model = `${definition.id}:${imported.path}`;
    const { status } = await createHttpCaller(environment).post("/catalogue/models", { model });
    if (status !== 200) throw new Error(`${model} was not imported: ${status}`);
  }
}

function buildRequest({ definition, imported, path, body }: VendorRequest, prompt: string, index: number) {
  if (!imported || index % 4 === 0) return { path, body: { prompt, ...body } };
  return { path: "/runs", body: { model: `${definition.id}:${imported.path}`, input: { prompt } } };
}

async function post({ environment, posted }: VendorCampaign, order: VendorRequest, crashPoint?: string): Promise<void> {
  const word = `w${randomUUID().replaceAll("-", "")}`;
  const key = randomUUID();
  const { path, body } = buildRequest(order, `an image of ${word}`, posted.length);
  for (const until = Date.now() + 60_000; ; await pause(200)) {
    const response = await fetch(`${environment.url}/api/v1${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${environment.key}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (response && response.status < 300) {
      const reply = (await response.json()) as { run_id?: string; data?: { run_id: string } };
      posted.push({ run_id: (reply.run_id ?? reply.data?.run_id)!, vendor: order.definition.id, word, crashPoint });
      return;
    }
    if (response && response.status < 500) throw new Error(`refused: ${await response.text()}`);
    if (Date.now() > until) throw new Error("the API did not take the run in time");
  }
}

/** The worker exits exactly at the crash point, with a run of each vendor in progress. */
async function killAtCrashPoints(campaign: VendorCampaign, rounds: number, log: Log): Promise<number> {
  let kills = 0;
  for (const crashPoint of CRASH_POINTS_UNDER_TEST) {
    for (const order of Array.from({ length: rounds }, (_, round) => selectVendors(crashPoint, round)).flat()) {
      // An earlier run at the crash point would crash the worker in the middle of a request that must not be lost.
      if (MAY_BE_UNKNOWN[crashPoint]!.length === 0) await waitUntilAllEnded(campaign.environment, 60);
      await campaign.environment.stopGracefully("worker");
      await campaign.faults.during("start", () => campaign.environment.start("worker", { CRASH_AT: crashPoint }));
      for (const each of order) {
        const { switches } = campaign.fakeVendors.get(each.definition.id)!;
        if (crashPoint === "given_up" && VENDORS_THAT_LOSE_RESPONSES.includes(each.definition.id))
          switches.drop = { times: 1, when: "after" };
        await post(campaign, each, crashPoint);
      }
      const died = await Promise.race([
        campaign.environment.waitForExit("worker").then(() => true),
        pause(30_000).then(() => false),
      ]);
      campaign.faults.addHits("crash point", { [crashPoint]: died ? 1 : 0 });
      if (died) campaign.faults.addKill(crashPoint);
      if (died) kills++;
      else await campaign.environment.kill("worker");
      await campaign.environment.start("worker");
    }
    log(`exited at ${crashPoint}, ${rounds} times`);
  }
  return kills;
}

/**
 * Responses are slow, some connections are cut after the job was accepted, and the worker is killed repeatedly (M6,
 * M8).
 */
async function killUnderLoad(campaign: VendorCampaign, runs: number, log: Log): Promise<number> {
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver) {
      await pause(1200 + random(1500));
      await campaign.environment.killAndRestart("worker");
      kills++;
    }
  })();
  for (let n = 0; n < runs; n++) {
    const order = VENDOR_REQUESTS[n % VENDOR_REQUESTS.length]!;
    const { switches } = campaign.fakeVendors.get(order.definition.id)!;
    switches.responseMs = 200 + (n % 3) * 400;
    switches.workMs = 100 + (n % 4) * 300;
    if (n % 15 < VENDOR_REQUESTS.length) switches.drop = { times: 1, when: "after" };
    await post(campaign, order);
    await pause(60);
  }
  isOver = true;
  await killing;
  log(`killed ${kills} times under load`);
  return kills;
}

type RunRow = { run_id: string; status: string; code: string | null; cost: unknown; unknowns: number };

async function checkVendorLedgers(campaign: VendorCampaign): Promise<CheckResult[]> {
  const { environment, fakeVendors, posted, faults } = campaign;
  const rows = await environment.query<RunRow>(
    `select run_id, status, error->>'code' as code, cost,
       (select count(*)::int from attempts a where a.run_id = runs.run_id and unknown_since is not null) as unknowns
     from runs`,
  );
  const ledgers = new Map(rows.map((row) => [row.run_id, row]));
  const everyJob = [...fakeVendors.values()].flatMap(({ ledger }) =>
    ledger.map(({ request }) => JSON.stringify(request)),
  );
  const jobsOf = ({ word }: VendorRun) => everyJob.filter((request) => request.includes(word)).length;
  const findings: CheckResult[] = [];
  for (const { definition, recovery } of VENDOR_REQUESTS) {
    const mine = posted.filter(({ vendor }) => vendor === definition.id);
    const ended = (status: string) => mine.filter(({ run_id }) => ledgers.get(run_id)?.status === status);
    const failed = ended("failed").map(({ run_id }) => ledgers.get(run_id)!);
    const unknown = failed.filter(({ code }) => code === "provider_outcome_unknown");
    const twice = mine.filter((each) => jobsOf(each) > 1);
    const unpaid = ended("completed").filter((each) => jobsOf(each) !== 1);
    const observed = `${mine.length} runs: ${ended("completed").length} completed, ${unknown.length} unknown, ${failed.length - unknown.length} failed otherwise ${JSON.stringify(failed.filter((each) => !unknown.includes(each)).slice(0, 2))}, ${twice.length} twice`;
    findings.push({
      invariant: `${definition.id}: no run was submitted twice, and every completed run has exactly one job`,
      passed: twice.length === 0 && unpaid.length === 0,
      observed,
    });
    findings.push({
      invariant:
        recovery === "find"
          ? `${definition.id}: every run was found again and completed`
          : `${definition.id}: every run completed or failed with provider_outcome_unknown`,
      passed: ended("completed").length + (recovery === "find" ? 0 : unknown.length) === mine.length,
      observed: `${ended("completed").length} and ${unknown.length} of ${mine.length}`,
    });
    findings.push({
      invariant: `${definition.id}: unknown outcomes are recorded and not charged`,
      passed: unknown.every(({ cost, unknowns }) => cost === null && unknowns > 0),
      observed: `${unknown.length} unknown`,
    });
  }
  const jobs = [...fakeVendors.values()].flatMap((vendor) => listFakeVendorJobs(vendor, posted));
  const completed = posted.filter(({ run_id }) => ledgers.get(run_id)?.status === "completed");
  const known = new Set(posted.map(({ run_id }) => run_id));
  const unposted = rows.filter(({ run_id }) => !known.has(run_id));
  const unexpected = posted.filter(
    ({ run_id, vendor, crashPoint }) =>
      crashPoint !== undefined &&
      ledgers.get(run_id)?.code === "provider_outcome_unknown" &&
      !MAY_BE_UNKNOWN[crashPoint]!.includes(vendor),
  );
  return [
    ...findings,
    {
      invariant: "every posted run exists, and no other",
      passed: unposted.length === 0 && posted.every(({ run_id }) => ledgers.has(run_id)),
      observed: `${posted.length} posted, ${unposted.length} others`,
    },
    {
      invariant: "an outcome is unknown only at vendors and crash points where the result is really lost",
      passed: unexpected.length === 0,
      observed: JSON.stringify(unexpected.slice(0, 3).map(({ vendor, crashPoint }) => [vendor, crashPoint])),
    },
    faults.checkHits(),
    ...(await checkUnknownOutcomes(environment, jobs, faults)),
    await checkOutputs(
      environment,
      completed.map(({ run_id }) => ({ run_id, outputCount: 1 })),
      jobs,
    ),
    await checkEngine(environment),
    ...(await checkLedgerInvariants(environment)),
  ];
}
