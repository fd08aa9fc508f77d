// All jobs in memory, kept equal to the ledger: every change is one fact, written first and then applied.
import type { Behaviour } from "./behaviour.ts";
import { classOf, type Job } from "./job.ts";
import { type Acceptance, type JobFact, openLedger } from "./ledger.ts";

export type Book = {
  jobs: ReadonlyMap<string, Job>;
  /** The standing behaviour of the vendor, under the directives of each job. */
  behaviour(): Behaviour;
  behave(behaviour: Behaviour): void;
  accept(acceptance: Acceptance): Job;
  record(fact: JobFact): void;
  byKey(key: string | undefined): Job | undefined;
  byReference(reference: string): readonly Job[];
  close(): void;
};

const jobFrom = ({ id, at, request, behaviour, seed, idempotency_key }: Acceptance): Job => ({
  id,
  request,
  behaviour,
  seed,
  idempotency_key,
  status: "queued",
  error: null,
  findings: { outputs: [], data: null },
  created_at: at,
  finished_at: null,
  canceled_at: null,
  posts: 1,
  delivered: 0,
  callback_attempts: 0,
  callback_taken: false,
  answer_lost: false,
  startedAt: null,
  reported: null,
});

const apply = (job: Job, fact: JobFact): void => {
  if (fact.fact === "posted_again") job.posts += 1;
  if (fact.fact === "answer_lost") job.answer_lost = true;
  if (fact.fact === "delivered") job.delivered += 1;
  if (fact.fact === "callback") {
    job.callback_attempts += 1;
    job.callback_taken ||= fact.taken;
  }
  if (fact.fact === "ended") Object.assign(job, { status: fact.status, error: fact.error, finished_at: fact.at });
  if (fact.fact === "ended" && fact.status === "succeeded" && fact.findings) job.findings = fact.findings;
  if (fact.fact === "canceled") Object.assign(job, { status: "canceled", finished_at: fact.at, canceled_at: fact.at });
};

export const openBook = (dataDir: string): Book => {
  const ledger = openLedger(dataDir);
  const jobs = new Map<string, Job>();
  const byKey = new Map<string, Job>();
  const byReference = new Map<string, Job[]>();
  let standing: Behaviour = {};

  const enter = (acceptance: Acceptance): Job => {
    const job = jobFrom(acceptance);
    const { model, reference } = job.request;
    jobs.set(job.id, job);
    if (classOf(model) === "replay" && job.idempotency_key) byKey.set(job.idempotency_key, job);
    if (classOf(model) === "find" && reference)
      byReference.set(reference, [...(byReference.get(reference) ?? []), job]);
    return job;
  };
  const applyTo = (fact: JobFact): void => {
    const job = jobs.get(fact.id);
    if (job) apply(job, fact);
  };
  for (const fact of ledger.facts.splice(0)) {
    if (fact.fact === "accepted") enter(fact);
    else if (fact.fact === "behaviour") standing = fact.behaviour;
    else applyTo(fact);
  }

  return {
    jobs,
    behaviour: () => standing,
    behave: (behaviour) => {
      ledger.write({ fact: "behaviour", behaviour });
      standing = behaviour;
    },
    accept: (acceptance) => {
      ledger.write(acceptance);
      return enter(acceptance);
    },
    record: (fact) => {
      ledger.write(fact);
      applyTo(fact);
    },
    byKey: (key) => (key ? byKey.get(key) : undefined),
    byReference: (reference) => byReference.get(reference) ?? [],
    close: ledger.close,
  };
};
