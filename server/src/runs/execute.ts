// The life of a run, top to bottom. What a step returns is JSON and is journalled: after a crash or a deploy the run goes
// on from what was decided. Nothing here knows which engine carries it.
import type { Held } from "../db/open-runs.ts";
import type { KeptAsset, Result } from "../db/runs.ts";
import { Fault, type PublicFault, toFault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { Json } from "../kit/shapes.ts";
import type { AssetRef } from "../providers/provider.ts";
import type { Choice } from "./choose.ts";
import type { WakeReason } from "./house.ts";
import { asRunFault } from "./run-fault.ts";

/** All that a run knows of the engine. A bell can be rung from outside once; waiting for it ends with its reason or by time. */
export type Engine = {
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  bell(): Bell;
};
export type Bell = { id: string; wait(seconds: number): Promise<WakeReason | undefined> };

export type Begun = { jobs: { job: Job; choice: Choice; made?: { files: KeptAsset[]; data?: Json } }[] };
export type JobInHand = { n: number; job: Job<AssetRef>; choice: Choice };

/** How a submission stands. `again`: not taken, send as a new try. `later`: somebody may have sent it, look again. */
export type Sent =
  | { state: "running"; try: number }
  | Made
  | { state: "again"; try: number; seconds: number }
  | { state: "later"; try: number; seconds: number }
  | Gone;
export type Collected = { state: "running" } | Made | Gone;
export type Made = { state: "made"; files: KeptAsset[]; data?: Json; warnings: string[] };
/** The run has ended or is in other hands, or its owner wants it stopped. */
type Gone = { state: "lost" } | { state: "canceled" };

/** The hands that do the work; each is a file beside this one. */
export type Hands = {
  begin(held: Held): Promise<Begun | null>;
  ingest(held: Held, n: number, job: Job, made: KeptAsset[][]): Promise<Job<AssetRef>>;
  submit(held: Held, work: JobInHand, attempt: { try: number; wakeId: string }): Promise<Sent>;
  collect(held: Held, work: JobInHand, attempt: { try: number }): Promise<Collected>;
  arm(held: Held, work: JobInHand, bell: { wakeId: string; seconds: number }): Promise<Armed>;
  cancel(held: Held, work: JobInHand): Promise<void>;
  finish(held: Held, end: Finish): Promise<void>;
};
export type Armed = { state: "armed" } | Gone;
export type Finish =
  | { status: "completed"; result: Result; done: { job: Job; choice: Choice }[]; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 600;

export async function executeRun(held: Held, engine: Engine, hands: Hands): Promise<void> {
  const begun = await engine.step("begin", () => hands.begin(held));
  if (!begun) return;
  const end = await doJobs(held, begun, { engine, hands }).catch((thrown) => failed(toFault(thrown)));
  if (end) await engine.step("finish", () => hands.finish(held, end));
}

const failed = (fault: Fault): Finish => ({ status: "failed", error: asRunFault(fault).body() });
const canceled = (): Finish => ({ status: "canceled", error: new Fault("canceled_by_user").body() });

type With = { engine: Engine; hands: Hands };

/** Nothing is answered when the run is no longer ours to end. */
async function doJobs(held: Held, begun: Begun, { engine, hands }: With): Promise<Finish | undefined> {
  const made: KeptAsset[][] = [];
  const warnings: string[] = [];
  let data: Json | null = null;
  for (const [n, { job: planned, choice, made: before }] of begun.jobs.entries()) {
    if (before) {
      made.push(before.files);
      data = before.data ?? data;
      continue;
    }
    const hasSources = [planned.images, planned.mask, planned.masks].some((source) => source !== undefined);
    const job = hasSources
      ? await engine.step(`${n}.ingest`, () => hands.ingest(held, n, planned, made))
      : (planned as Job<AssetRef>);
    const result = await doJob(held, { n, job, choice }, { engine, hands });
    if (result.state === "lost") return undefined;
    if (result.state === "canceled") return canceled();
    made.push(result.files);
    data = result.data ?? data;
    warnings.push(...result.warnings);
  }
  const result = { outputs: made.at(-1) ?? [], ...(made.length > 1 && { jobs: made }), ...(data && { data }) };
  return { status: "completed", result, done: begun.jobs, warnings };
}

/** Submits until somebody has the job, then waits until it is made. */
async function doJob(held: Held, work: JobInHand, { engine, hands }: With): Promise<Made | Gone> {
  let attempt = 1;
  for (let round = 0; ; round++) {
    const bell = engine.bell();
    const sent = await engine.step(`${work.n}.submit.${round}`, () =>
      hands.submit(held, work, { try: attempt, wakeId: bell.id }),
    );
    if (sent.state === "made" || sent.state === "lost" || sent.state === "canceled") return sent;
    attempt = sent.try;
    if (sent.state === "running") return awaitJob(held, work, { bell, try: attempt }, { engine, hands });
    if ((await bell.wait(sent.seconds)) === "cancel") return { state: "canceled" };
  }
}

type Submitted = { bell: Bell; try: number };

async function awaitJob(
  held: Held,
  work: JobInHand,
  submitted: Submitted,
  { engine, hands }: With,
): Promise<Made | Gone> {
  let { bell } = submitted;
  for (let round = 0; ; round++) {
    const seconds = Math.min(FIRST_WAIT_SECONDS * 2 ** round, LONGEST_WAIT_SECONDS);
    const why = await bell.wait(seconds);
    if (why === "cancel") return stop(held, work, { engine, hands });

    const looked = await engine.step(`${work.n}.collect.${round}`, () => hands.collect(held, work, submitted));
    if (looked.state !== "running") return looked;

    // Woken too early, or not at all: a fresh bell, and the row says where it hangs.
    bell = engine.bell();
    const hung = { wakeId: bell.id, seconds: seconds * 2 };
    const armed = await engine.step(`${work.n}.arm.${round}`, () => hands.arm(held, work, hung));
    if (armed.state === "lost") return armed;
    if (armed.state === "canceled") return stop(held, work, { engine, hands });
  }
}

async function stop(held: Held, work: JobInHand, { engine, hands }: With): Promise<Gone> {
  await engine.step(`${work.n}.cancel`, () => hands.cancel(held, work));
  return { state: "canceled" };
}
