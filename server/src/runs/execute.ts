// The life of a run, top to bottom. What a step returns is JSON and is journalled: after a crash or a deploy the run goes
// on from what was decided. Nothing here knows which engine carries it.
import type { Held } from "../db/open-runs.ts";
import type { KeptAsset, Result } from "../db/runs.ts";
import { Fault, type PublicFault, toFault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";
import type { Json } from "../kit/shapes.ts";
import type { AssetRef, Choice } from "../providers/provider.ts";
import type { WakeReason } from "./house.ts";
import { asRunFault } from "./run-fault.ts";

/** All that a run knows of the engine. A bell can be rung from outside once; waiting for it ends with its reason or by time. */
export type Engine = {
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  bell(): Bell;
};
export type Bell = { id: string; wait(seconds: number): Promise<WakeReason | undefined> };

/**
 * What is to be done, in order. A planned job that asks for more results than its provider makes at once is several of
 * these: `planned` says which job of the plan it belongs to, `n` is its own number.
 */
export type Begun = { jobs: Part[] };
type Part = { n: number; planned: number; job: Job; choice: Choice; made?: MadeBefore };
type MadeBefore = { files: KeptAsset[]; data?: Json; choice: Choice };
export type JobInHand = { n: number; job: Job<AssetRef>; choice: Choice };

/**
 * How a submission stands. `running`: at the one who was chosen, or where it was found. `again`: not taken, send as this try, elsewhere where a choice is told. `later`: somebody may
 * have sent it, or it may not be sent yet; look again.
 */
export type Sent =
  | { state: "running"; try: number; choice?: Choice }
  | Made
  | Again
  | { state: "later"; try: number; seconds: number }
  | Gone;
type Again = { state: "again"; try: number; seconds: number; choice?: Choice };
export type Collected = { state: "running" } | Made | Again | Gone;
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
  | { status: "completed"; result: Result; done: DoneJob[]; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

/** A job with who did it in the end, and what it made. */
export type DoneJob = { job: Job; choice: Choice; files: KeptAsset[] };

const FIRST_WAIT_SECONDS = 60;
const LONGEST_WAIT_SECONDS = 600;

export async function executeRun(held: Held, engine: Engine, hands: Hands): Promise<void> {
  const end = await doRun(held, { engine, hands }).catch((thrown) => failed(toFault(thrown)));
  if (end) await engine.step("finish", () => hands.finish(held, end));
}

const failed = (fault: Fault): Finish => ({ status: "failed", error: asRunFault(fault).body() });
const canceled = (): Finish => ({ status: "canceled", error: new Fault("canceled_by_user").body() });

type With = { engine: Engine; hands: Hands };

async function doRun(held: Held, { engine, hands }: With): Promise<Finish | undefined> {
  const begun = await engine.step("begin", () => hands.begin(held));
  return begun ? doJobs(held, begun, { engine, hands }) : undefined;
}

/** Nothing is answered when the run is no longer ours to end. */
async function doJobs(held: Held, begun: Begun, { engine, hands }: With): Promise<Finish | undefined> {
  const made: KeptAsset[][] = [];
  const done: DoneJob[] = [];
  const warnings: string[] = [];
  const words: Json[] = [];
  const keep = (
    { planned, job }: Part,
    { files, data, choice }: { files: KeptAsset[]; data?: Json; choice: Choice },
  ) => {
    made[planned] = [...(made[planned] ?? []), ...files];
    done.push({ job, choice, files });
    if (data) words.push(data);
  };
  let ingested: { planned: number; job: Job<AssetRef> } | undefined;
  for (const part of begun.jobs) {
    const { n, planned, choice } = part;
    if (part.made) {
      keep(part, part.made);
      continue;
    }
    if (ingested?.planned !== planned) ingested = { planned, job: await takeIn(held, part, made, { engine, hands }) };
    const job = { ...part.job, ...sourcesOf(ingested.job) } as Job<AssetRef>;
    const result = await doJob(held, { n, job, choice }, { engine, hands }).catch((thrown) => {
      // What has been made and paid for is not thrown away because more of the same could not be had.
      const before = made[planned]?.length ?? 0;
      if (before === 0) throw thrown;
      warnings.push(`Only ${before} of the results could be made: ${toFault(thrown).message}`);
    });
    if (!result) continue;
    if (result.state === "lost") return undefined;
    if (result.state === "canceled") return canceled();
    keep(part, result);
    warnings.push(...result.warnings);
  }
  const data = words.at(-1);
  const result = { outputs: made.at(-1) ?? [], ...(made.length > 1 && { jobs: made }), ...(data && { data }) };
  return { status: "completed", result, done, warnings };
}

const sourcesOf = ({ images, mask, masks }: Job<AssetRef>) => ({ images, mask, masks });

async function takeIn(
  held: Held,
  { n, job }: Part,
  made: KeptAsset[][],
  { engine, hands }: With,
): Promise<Job<AssetRef>> {
  const hasSources = [job.images, job.mask, job.masks].some((source) => source !== undefined);
  return hasSources ? engine.step(`${n}.ingest`, () => hands.ingest(held, n, job, made)) : (job as Job<AssetRef>);
}

/** Submits until somebody has the job, waits until it is made, and begins anew where a provider has lost it. */
async function doJob(
  held: Held,
  asked: JobInHand,
  { engine, hands }: With,
): Promise<(Made & { choice: Choice }) | Gone> {
  let work = asked;
  let attempt = 1;
  for (let round = 0; ; round++) {
    const bell = engine.bell();
    const sent = await engine.step(`${work.n}.submit.${round}`, () =>
      hands.submit(held, work, { try: attempt, wakeId: bell.id }),
    );
    attempt = "try" in sent ? sent.try : attempt;
    if ("choice" in sent && sent.choice) work = { ...work, choice: sent.choice };
    const stands =
      sent.state === "running" ? await awaitJob(held, work, { bell, try: attempt, round }, { engine, hands }) : sent;
    if (stands.state === "made") return { ...stands, choice: work.choice };
    if (stands.state === "lost" || stands.state === "canceled") return stands;
    attempt = stands.try;
    // A bell that has rung while the job was awaited cannot be waited for again.
    const pause = sent.state === "running" ? engine.bell() : bell;
    if (stands.seconds > 0 && (await pause.wait(stands.seconds)) === "cancel") return { state: "canceled" };
  }
}

type Submitted = { bell: Bell; try: number; round: number };

async function awaitJob(
  held: Held,
  work: JobInHand,
  submitted: Submitted,
  { engine, hands }: With,
): Promise<Made | Again | Gone> {
  let { bell } = submitted;
  // Names of steps tell the tries apart: a job may be awaited more than once.
  const named = (step: string, round: number) =>
    `${work.n}.${step}.${submitted.round > 0 ? `${submitted.round}.` : ""}${round}`;
  for (let round = 0; ; round++) {
    const seconds = Math.min(FIRST_WAIT_SECONDS * 2 ** round, LONGEST_WAIT_SECONDS);
    const why = await bell.wait(seconds);
    if (why === "cancel") return stop(held, work, { engine, hands });

    const looked = await engine.step(named("collect", round), () => hands.collect(held, work, submitted));
    if (looked.state !== "running") return looked;

    // Woken too early, or not at all: a fresh bell, and the row says where it hangs.
    bell = engine.bell();
    const hung = { wakeId: bell.id, seconds: seconds * 2 };
    const armed = await engine.step(named("arm", round), () => hands.arm(held, work, hung));
    if (armed.state === "lost") return armed;
    if (armed.state === "canceled") return stop(held, work, { engine, hands });
  }
}

async function stop(held: Held, work: JobInHand, { engine, hands }: With): Promise<Gone> {
  await engine.step(`${work.n}.cancel`, () => hands.cancel(held, work));
  return { state: "canceled" };
}
