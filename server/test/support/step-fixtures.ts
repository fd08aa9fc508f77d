// What the steps of a run need in tests: a runtime, fake providers that remember every call, files in memory, and
// claimed runs in a real database. A crash point can throw, which leaves the database as a crash at that point would.

import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { z } from "zod";
import type { Job } from "../../src/contract/operation.ts";
import type { AttemptRef } from "../../src/db/attempts/attempts.ts";
import { claimAttempt } from "../../src/db/attempts/claim-attempt.ts";
import type { Database } from "../../src/db/connect.ts";
import type { RunClaim } from "../../src/db/run-claims.ts";
import { insertRun } from "../../src/db/runs/insert-run.ts";
import { requestCancellation, requeueAllRuns } from "../../src/db/runs/open-runs.ts";
import { claimQueuedRuns } from "../../src/db/runs/queue.ts";
import { startClaimedRun } from "../../src/db/runs/start-run.ts";
import { Fault } from "../../src/faults/faults.ts";
import type { VideoFile } from "../../src/files/formats/ranged-file.ts";
import type { ThumbnailFile, Thumbnails } from "../../src/files/images/thumbnail.ts";
import type { CrashPoint } from "../../src/observe/crash-points.ts";
import { createProcessSockets } from "../../src/outbound/process-sockets.ts";
import { flatPrice } from "../../src/prices/price.ts";
import { honourAll } from "../../src/providers/parameter-support.ts";
import type {
  JobCancellation,
  JobProgress,
  Offer,
  Provider,
  SelectedOffer,
  Ticket,
} from "../../src/providers/provider.ts";
import { createJobFiles } from "../../src/runs/attempt/job-files.ts";
import type { ResponseSpool, SpooledResponse } from "../../src/runs/attempt/response-spool.ts";
import { attemptKey } from "../../src/runs/core/ids.ts";
import type { RunSettings, RunTimeouts } from "../../src/runs/core/run-settings.ts";
import type { Runtime } from "../../src/runs/core/runtime.ts";
import type { StepDependencies } from "../../src/runs/execute/run-steps.ts";
import type { CircuitBreaker } from "../../src/runs/offers/circuit-breaker.ts";
import { createProviderRegistry } from "../../src/runs/offers/provider-registry.ts";
import { createByteBudget } from "../../src/runs/outputs/byte-budget.ts";
import type { OutputDependencies } from "../../src/runs/outputs/store-outputs.ts";
import { createInFlightAttempts } from "../../src/runs/ownership/in-flight-attempts.ts";
import type { SuspectRuns } from "../../src/runs/ownership/suspect-runs.ts";
import { createFileTurns } from "../../src/runs/sources/file-turns.ts";
import type { StagingDependencies } from "../../src/runs/sources/stage-inline-files.ts";
import type { ResolvedRequest } from "../../src/runs/steps.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { systemClock } from "../../src/runtime/system-clock.ts";
import { createMemoryLog } from "./queued-runs.ts";
import { createTestRuntime, TEST_RUN_SETTINGS } from "./test-runtime.ts";

export class SimulatedCrash extends Error {}

export type TestRuntime = Runtime & {
  settings: RunSettings;
  messages: string[];
  endedRuns: string[];
  /** Where the next step crashes, once. */
  crashAt: CrashPoint | undefined;
};

/**
 * A runtime whose log can be read, and whose crash point throws once where `crashAt` says. Fills `runtime` anew if one
 * is given, so that tests can keep one reference to it.
 */
export function createRuntime(timeouts: Partial<RunTimeouts> = {}, runtime = {} as TestRuntime): TestRuntime {
  const { log, messages } = createMemoryLog();
  const settings = TEST_RUN_SETTINGS;
  return Object.assign(runtime, {
    ...{ ...createTestRuntime({ log, random: () => 0.5 }), messages, endedRuns: [], crashAt: undefined },
    settings: { ...settings, timeouts: { ...settings.timeouts, unknownSeconds: 60, ...timeouts } },
    crashPoint(name: CrashPoint) {
      if (name !== runtime.crashAt) return;
      runtime.crashAt = undefined;
      throw new SimulatedCrash(name);
    },
  });
}

export type FakeProvider = {
  /** Idempotency keys of the submissions that were sent. */
  submissions: string[];
  canceled: Ticket[];
  submit(key: string): Promise<JobProgress>;
  poll(ticket: Ticket): Promise<JobProgress>;
  find(key: string): Promise<Ticket | undefined>;
  cancel(ticket: Ticket): Promise<JobCancellation>;
  /** Set if the submission fails before anything is sent. */
  isUnableToSend: boolean;
  offer: SelectedOffer;
  provider: Provider;
};

type FakeOffer = Partial<Offer> & Pick<Provider, "rateLimit">;

/**
 * A provider whose responses the test decides; the harmless ones are the defaults. Fills `fake` anew if one is given.
 */
export function createFakeProvider(id: string, { rateLimit, ...offer }: FakeOffer = {}, fake = {} as FakeProvider) {
  const offered = {
    task: "image.generate",
    model: "flux-dev",
    upstreamModel: `${id}-model`,
    recovery: "find",
    price: flatPrice(0.01),
    parameters: honourAll("image.generate"),
  } as Offer;
  const provider: Provider = {
    ...{ id, env: z.unknown(), offers: [{ ...offered, ...offer }], resultOrigins: () => [] },
    ...(rateLimit && { rateLimit }),
    async submit(_job, _offer, context) {
      if (fake.isUnableToSend) throw new Fault("asset_unavailable");
      await context.send("https://provider.example/jobs", { method: "POST", headers: {}, body: "{}" });
      fake.submissions.push(context.key);
      return fake.submit(context.key);
    },
    poll: (ticket) => fake.poll(ticket),
    findJob: (context) => fake.find(context.key),
    cancel: async (ticket) => {
      fake.canceled.push(ticket);
      return fake.cancel(ticket);
    },
  };
  return Object.assign(fake, {
    ...{ submissions: [], canceled: [], isUnableToSend: false, provider },
    submit: async (key: string): Promise<JobProgress> => ({ state: "running", ticket: { job: key } }),
    poll: async (ticket: Ticket): Promise<JobProgress> => ({ state: "running", ticket }),
    find: async () => undefined,
    cancel: async () => ({ isUncharged: false }),
    offer: { provider: id, upstreamModel: `${id}-model` },
  });
}

/** Circuit breakers that are closed, except for the providers in `open`. */
export function createTestProviders(fakes: FakeProvider[], clock: Clock = systemClock) {
  const open = new Set<string>();
  const failures: string[] = [];
  const circuitBreaker: CircuitBreaker = {
    openForSeconds: ({ provider }) => (open.has(provider) ? 7 : 0),
    tryAcquire: async ({ provider }) => !open.has(provider),
    recordSuccess: async () => {},
    recordFailure: async ({ provider }) => void failures.push(provider),
  };
  const registry = createProviderRegistry(
    fakes.map(({ provider }) => ({ provider, env: {} })),
    circuitBreaker,
    {
      http: { sendToProvider: async () => ({ status: 200, header: () => undefined, text: "{}" }) },
      callbacks: { isPublicUrlReachable: true, signUrl: (provider) => `https://gesso.example/callbacks/${provider}` },
      ...{ submitSeconds: 30, clock, runPixelTask: () => Promise.reject(new Error("this test has no images")) },
    },
  );
  return Object.assign(registry, { open, failures });
}

const thumbnailOf = (text: string, side: number): ThumbnailFile => ({
  ...{ bytes: Buffer.from(text), media_type: "image/webp", width: side, height: side },
});

const wholeOf = async (file: VideoFile) => (file instanceof Uint8Array ? file : file.read(0, file.sizeBytes));

/** Storage in memory, and a decoder that takes every file for a small image. */
export function createTestFiles() {
  const objects = new Map<string, Uint8Array>();
  const inspected = { media_type: "image/png", width: 32, height: 32 };
  return {
    objects,
    storage: {
      put: async (key: string, bytes: Uint8Array) => void objects.set(key, bytes),
      async putStream(prefix: string, stream: AsyncIterable<Uint8Array>) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of stream) chunks.push(chunk);
        const bytes = Buffer.concat(chunks);
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        objects.set(`${prefix}/${sha256}`, bytes);
        return { key: `${prefix}/${sha256}`, sha256, size_bytes: bytes.byteLength };
      },
      bytes: async (key: string) => objects.get(key),
      get: async (key: string, { start, end } = { start: 0, end: Number.POSITIVE_INFINITY }) =>
        objects.has(key) ? new Blob([Buffer.from(objects.get(key)!).subarray(start, end + 1)]).stream() : undefined,
    },
    images: {
      inspect: async () => inspected,
      normalize: async (bytes: Uint8Array) => ({ ...inspected, bytes, manifest: undefined }),
      toMask: async (bytes: Uint8Array, _size?: object) => bytes,
      mergeMasks: async (masks: Uint8Array[], _options: object): Promise<Uint8Array> => Buffer.concat(masks),
      toPng: async (bytes: Uint8Array) => bytes,
      toFoundMask: async (bytes: Uint8Array) => ({ bytes, isEmpty: false }),
    },
    videoFrames: {
      extract: async (video: VideoFile, frame: string): Promise<Uint8Array> =>
        Buffer.from(`${frame} frame of ${Buffer.from(await wholeOf(video))}`),
    },
    thumbnails: {
      make: async (file: VideoFile): Promise<Thumbnails> => {
        const text = Buffer.from(await wholeOf(file));
        return {
          small: thumbnailOf(`small ${text}`, 320),
          large: thumbnailOf(`large ${text}`, 640),
          thumbhash: "3OcRJYB4d3h/iIeHeEh3eIhw+j3A",
        };
      },
      fingerprints: async (): Promise<string[]> => [],
    },
    /** The asset id of a URL that this server signed. */
    findIdByUrl: (_url: string): string | undefined => undefined,
    fetch: async (url: string): Promise<{ bytes: Uint8Array }> => ({ bytes: Buffer.from(url) }),
  };
}

/** A spool in memory, for tests in which no process dies. */
function createTestSpool(): ResponseSpool {
  const responses = new Map<string, SpooledResponse>();
  return {
    id: () => "00000000-0000-4000-8000-000000000001",
    write: async (attempt, response) => void responses.set(attemptKey(attempt), response),
    read: async (attempt) => responses.get(attemptKey(attempt)),
    remove: async (attempt) => void responses.delete(attemptKey(attempt)),
    keep: async () => {},
    list: async () => [],
    deleteOlderThan: async () => 0,
  };
}

/** For tests in which no process dies. */
const NO_SUSPECTS: SuspectRuns = {
  guard: (_runId, store) => store(),
  isHeldBack: async () => false,
  update: async () => {},
  close: async () => {},
};

/** What all steps use, and what accepts runs. */
type StepCapabilities = StepDependencies["plan"] &
  StepDependencies["sources"] &
  StepDependencies["attempt"] &
  StagingDependencies &
  OutputDependencies & { suspects: SuspectRuns };

type StepParts = {
  spool?: ResponseSpool;
  suspects?: SuspectRuns;
  database: Database;
  runtime: TestRuntime;
  providers?: ReturnType<typeof createTestProviders>;
  files?: ReturnType<typeof createTestFiles>;
};

/** The services of a step from at most four parts: a database, a runtime, providers and files. */
export function createStepServices({
  database,
  runtime,
  providers = createTestProviders([]),
  files,
  spool = createTestSpool(),
  suspects = NO_SUSPECTS,
}: StepParts) {
  const { storage, images, videoFrames, thumbnails, findIdByUrl, fetch } = files ?? createTestFiles();
  const open = async (url: string) => {
    const { bytes } = await fetch(url);
    const whole = async function* () {
      yield bytes;
    };
    return { media_type: "image/png", size_bytes: bytes.byteLength, bytes: whole() };
  };
  const signUrl = (id: string) => `https://gesso.example/files/${id}`;
  const parts = {
    ...{ ...runtime, database, spool, providers, images, videoFrames, thumbnails, http: { fetch, open } },
    ...{ assets: { storage, signUrl, findIdByUrl }, suspects },
    byteBudget: createByteBudget(runtime.settings.byteBudget),
    fileTurns: createFileTurns(runtime.settings.fileBytes),
    notifications: { runEnded: (runId: string) => void runtime.endedRuns.push(runId) },
    inFlight: createInFlightAttempts(createProcessSockets(join(tmpdir(), "gesso-no-spool"), runtime), runtime.log),
    steadiness: { observe: () => {}, jumpMs: () => 0, shifted: () => {}, isSteady: () => true },
    loras: { names: new Set<string>(), allowsUnregistered: true },
    findProvenancePolicy: async () => ({ mode: "off", publishesPrompt: false }),
  } as unknown as Omit<StepCapabilities, "jobFiles">;
  return { ...parts, jobFiles: createJobFiles(parts, parts.suspects) };
}

export const done = (...texts: string[]): JobProgress => ({
  state: "done",
  outputs: texts.map((text) => ({ bytes: Buffer.from(text), media_type: "image/png" })),
});

export const TENANT = "00000000-0000-7000-8000-000000000001";
export const jobFor = (job: Partial<Job> = {}): Job => ({
  task: "image.generate",
  model: "flux-dev",
  prompt: "p",
  ...job,
});

export type RunOptions = { plan?: Job[]; deadlineSeconds?: number; isStarted?: boolean };

/** A run that an engine invocation has claimed. */
export async function claimRun(database: Database, options: RunOptions = {}): Promise<RunClaim> {
  const { plan = [jobFor()], deadlineSeconds = 600, isStarted = true } = options;
  const run_id = v7();
  await insertRun(database, {
    ...{ run_id, root_run_id: run_id, tenant_id: TENANT, user_id: "u", event_id: v7() },
    ...{ operation: "images.generate", run_type: "image-generation", lane: "fake", depth: 1 },
    ...{ inputs: {}, plan, metadata: {}, warnings: [], deadlineSeconds },
  });
  const [claim] = await claimQueuedRuns(database, [{ tenant_id: TENANT, lane: "fake", count: 1 }]);
  if (isStarted) await startClaimedRun(database, claim!, v7());
  const { tenant_id, epoch } = claim!;
  return { run_id, tenant_id, epoch };
}

/**
 * Every claim in this database becomes stale, as if the engine had lost its journal. Returns the new claim of the run.
 */
export async function requeue(database: Database, claim: RunClaim): Promise<RunClaim> {
  await requeueAllRuns(database);
  await claimQueuedRuns(database, [{ tenant_id: TENANT, lane: "fake", count: 1000 }]);
  return { ...claim, epoch: claim.epoch + 1 };
}

export const cancelRun = (database: Database, { run_id }: RunClaim) =>
  requestCancellation(database, TENANT, run_id, new Fault("canceled_by_user").body(), v7());

export const requestTo = ({ offer }: FakeProvider, request: Partial<ResolvedRequest> = {}): ResolvedRequest => ({
  ...{ requestIndex: 0, job: jobFor() as ResolvedRequest["job"], offer },
  ...request,
});

export const attemptOf = ({ run_id }: RunClaim, attemptNumber = 1): AttemptRef => ({
  ...{ run_id, request_index: 0, attempt_number: attemptNumber },
});

/** Inserts an attempt with its lease, as the step does before it sends. */
export async function claimAttemptAt(database: Database, claim: RunClaim, { offer }: FakeProvider, attemptNumber = 1) {
  const attempt = attemptOf(claim, attemptNumber);
  await claimAttempt(database, {
    ...{ ...claim, ...attempt, idempotency_key: `${claim.run_id}.0.${attemptNumber}`, model: "flux-dev" },
    ...{ provider: offer.provider, upstream: offer.upstreamModel, price: 10_000 },
    ...{ wakeupId: "wakeup", leaseSeconds: 35, runsLocally: false },
  });
  return attempt;
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
