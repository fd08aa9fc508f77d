// All jobs in memory, rebuilt from the ledger. Every change is one ledger event, written to disk before it is applied.
import type { Behaviour } from "./behaviour.ts";
import { type Job, recoveryClassOf } from "./job.ts";
import { type AcceptedEvent, type JobEvent, openLedger } from "./ledger.ts";

export type JobStore = {
  jobs: ReadonlyMap<string, Job>;
  /** The default behaviour of the sandbox; the directives of a job override it. */
  behaviour(): Behaviour;
  setBehaviour(behaviour: Behaviour): void;
  /** The behaviour for jobs with an image, by its SHA-256. It overrides the default. */
  inputBehaviour(input: string): Behaviour;
  setInputBehaviour(input: string, behaviour: Behaviour): void;
  accept(acceptance: AcceptedEvent): Job;
  append(fact: JobEvent): void;
  findByKey(key: string | undefined): Job | undefined;
  listByReference(reference: string): readonly Job[];
  close(): void;
};

const jobFrom = ({ id, at, request, behaviour, seed, idempotency_key }: AcceptedEvent): Job => ({
  id,
  request,
  behaviour,
  seed,
  idempotency_key,
  status: "queued",
  error: null,
  result: { outputs: [], data: null },
  created_at: at,
  finished_at: null,
  canceled_at: null,
  posts: 1,
  delivered: 0,
  callback_attempts: 0,
  callback_taken_at: null,
  answer_lost: false,
  startedAt: null,
  reportedProgress: null,
});

const apply = (job: Job, fact: JobEvent): void => {
  if (fact.fact === "posted_again") job.posts += 1;
  if (fact.fact === "answer_lost") job.answer_lost = true;
  if (fact.fact === "delivered") job.delivered += 1;
  if (fact.fact === "callback") {
    job.callback_attempts += 1;
    if (fact.taken) job.callback_taken_at ??= fact.at;
  }
  if (fact.fact === "ended") Object.assign(job, { status: fact.status, error: fact.error, finished_at: fact.at });
  if (fact.fact === "ended" && fact.status === "succeeded" && fact.findings) job.result = fact.findings;
  if (fact.fact === "canceled") Object.assign(job, { status: "canceled", finished_at: fact.at, canceled_at: fact.at });
};

export const openJobStore = (dataDir: string): JobStore => {
  const ledger = openLedger(dataDir);
  const jobs = new Map<string, Job>();
  const byKey = new Map<string, Job>();
  const byReference = new Map<string, Job[]>();
  const inputBehaviours = new Map<string, Behaviour>();
  let defaultBehaviour: Behaviour = {};

  const addJob = (acceptance: AcceptedEvent): Job => {
    const job = jobFrom(acceptance);
    const { model, reference } = job.request;
    jobs.set(job.id, job);
    if (recoveryClassOf(model) === "replay" && job.idempotency_key) byKey.set(job.idempotency_key, job);
    if (recoveryClassOf(model) === "find" && reference)
      byReference.set(reference, [...(byReference.get(reference) ?? []), job]);
    return job;
  };
  const applyTo = (fact: JobEvent): void => {
    const job = jobs.get(fact.id);
    if (job) apply(job, fact);
  };
  for (const fact of ledger.events.splice(0)) {
    if (fact.fact === "accepted") addJob(fact);
    else if (fact.fact === "behaviour" && fact.input !== undefined) inputBehaviours.set(fact.input, fact.behaviour);
    else if (fact.fact === "behaviour") defaultBehaviour = fact.behaviour;
    else applyTo(fact);
  }

  return {
    jobs,
    behaviour: () => defaultBehaviour,
    setBehaviour: (behaviour) => {
      ledger.write({ fact: "behaviour", behaviour });
      defaultBehaviour = behaviour;
    },
    inputBehaviour: (input) => inputBehaviours.get(input) ?? {},
    setInputBehaviour: (input, behaviour) => {
      ledger.write({ fact: "behaviour", behaviour, input });
      inputBehaviours.set(input, behaviour);
    },
    accept: (acceptance) => {
      ledger.write(acceptance);
      return addJob(acceptance);
    },
    append: (fact) => {
      ledger.write(fact);
      applyTo(fact);
    },
    findByKey: (key) => (key ? byKey.get(key) : undefined),
    listByReference: (reference) => byReference.get(reference) ?? [],
    close: ledger.close,
  };
};
