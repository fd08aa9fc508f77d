// POST /v1/jobs: the one place where a job comes into being, with all that can go wrong around its answer.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { type Behaviour, readDirectives } from "../behaviour.ts";
import { classOf, type Job, showJob } from "../job.ts";
import { hash32 } from "../picture/chance.ts";
import { type Refusal, refuse, unfit, unfitFields } from "../refusal.ts";
import { JobRequest } from "../request.ts";
import { findTask } from "../tasks/index.ts";
import type { Bindings, Vendor } from "../vendor.ts";

type Posting = { request: JobRequest; prompt: string; behaviour: Behaviour; key: string | undefined };

const readPosting = async (vendor: Vendor, context: Context<Bindings>): Promise<Posting | Refusal> => {
  const body: unknown = await context.req.json().catch(() => undefined);
  if (body === undefined) return { status: 400, code: "invalid_json", message: "The body is not JSON." };
  const parsed = JobRequest.safeParse(body);
  if (!parsed.success) return unfitFields(parsed.error);
  const request = parsed.data;
  const task = findTask(request.task);
  if (!task) return unfit(`task: ${request.task} is not known here`);
  const complaint = task.complaint(request);
  if (complaint) return unfit(complaint);
  const reading = readDirectives(request.prompt ?? "");
  if ("complaint" in reading) return unfit(reading.complaint);
  const behaviour = { ...vendor.book.behaviour(), ...reading.behaviour };
  // Only class A listens to the key; to the others it is a header like any other.
  const key = classOf(request.model) === "replay" ? context.req.header("idempotency-key") : undefined;
  return { request, prompt: reading.text, behaviour, key };
};

const accept = (vendor: Vendor, context: Context<Bindings>, posting: Posting): Job => {
  const { request, prompt, behaviour } = posting;
  const { images, mask, ...plain } = request;
  const id = `job_${randomBytes(16).toString("hex")}`;
  const job = vendor.book.accept({
    fact: "accepted",
    id,
    at: new Date().toISOString(),
    request: {
      ...plain,
      prompt,
      images: images.map(vendor.inputs.keep),
      ...(mask && { mask: vendor.inputs.keep(mask) }),
    },
    behaviour,
    seed: request.seed ?? hash32(id),
    idempotency_key: context.req.header("idempotency-key") ?? null,
  });
  vendor.runner.start(job);
  return job;
};

const replay = (vendor: Vendor, context: Context<Bindings>, job: Job): Response => {
  vendor.book.record({ fact: "posted_again", id: job.id });
  return context.json(showJob(job, vendor.url), 200);
};

const hangUp = (context: Context<Bindings>): Response => {
  context.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
};

/** The ledger also says when a caller went away before its answer was sent, which nobody told us to bring about. */
const watchAnswer = (vendor: Vendor, context: Context<Bindings>, job: Job): void => {
  const { outgoing } = context.env;
  const look = (): void => {
    if (outgoing.writableFinished || job.answer_lost || vendor.closing.aborted) return;
    vendor.book.record({ fact: "answer_lost", id: job.id });
  };
  if (outgoing.destroyed) look();
  else outgoing.once("close", look);
};

export const postJob =
  (vendor: Vendor) =>
  async (context: Context<Bindings>): Promise<Response> => {
    const posting = await readPosting(vendor, context);
    if ("status" in posting) return refuse(context, posting);
    const { request, behaviour, key } = posting;
    const known = vendor.book.byKey(key);
    if (known) return replay(vendor, context, known);

    const verdict = vendor.gate.judge(request.prompt ?? "", behaviour);
    if (verdict.kind === "lost") return hangUp(context);
    if (verdict.kind === "refused") {
      if (verdict.status === 429 || verdict.status === 503) context.header("retry-after", "1");
      return refuse(context, verdict);
    }

    const half = (behaviour.accept_delay ?? 0) * 500;
    if (half) await wait(half, undefined, { signal: vendor.closing });
    // Another POST with the same key may have been accepted while this one waited.
    const meanwhile = vendor.book.byKey(key);
    if (meanwhile) return replay(vendor, context, meanwhile);
    const job = accept(vendor, context, posting);
    const answer = { id: job.id, status: job.status, progress: 0, created_at: job.created_at };
    const ended = behaviour.callback_first ? vendor.runner.whenEnded(job) : undefined;
    const isLost = vendor.gate.losesAnswer(request.prompt ?? "", behaviour, job.id);
    if (isLost) vendor.book.record({ fact: "answer_lost", id: job.id });
    else watchAnswer(vendor, context, job);
    if (half) await wait(half, undefined, { signal: vendor.closing });
    await ended;
    return isLost ? hangUp(context) : context.json(answer, 202);
  };
