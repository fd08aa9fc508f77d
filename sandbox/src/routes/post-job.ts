// POST /v1/jobs: creates jobs, with all faults around the response.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { type Behaviour, parseDirectives } from "../behaviour.ts";
import { hash32 } from "../drawing/seeded-random.ts";
import { type ErrorResponse, invalidFields, invalidParameters, respondWithError } from "../error-response.ts";
import { type Job, recoveryClassOf, renderJob } from "../job.ts";
import { JobRequest } from "../request.ts";
import type { Bindings, SandboxServices } from "../sandbox-services.ts";
import { withSide } from "../size.ts";
import { findTask } from "../tasks/index.ts";

type ParsedPost = { request: JobRequest; prompt: string; behaviour: Behaviour; key: string | undefined };

const parsePost = async (
  services: SandboxServices,
  context: Context<Bindings>,
): Promise<ParsedPost | ErrorResponse> => {
  const body: unknown = await context.req.json().catch(() => undefined);
  if (body === undefined) return { status: 400, code: "invalid_json", message: "The body is not JSON." };
  const parsed = JobRequest.safeParse(body);
  if (!parsed.success) return invalidFields(parsed.error);
  const request = parsed.data;
  const task = findTask(request.task);
  if (!task) return invalidParameters(`task: unknown task ${request.task}`);
  const problem = task.validate(request);
  if (problem) return invalidParameters(problem);
  const reading = parseDirectives(request.prompt ?? "");
  if ("complaint" in reading) return invalidParameters(reading.complaint);
  const inputBehaviours = request.images.map((image) => services.jobs.inputBehaviour(services.inputs.nameOf(image)));
  const behaviour = Object.assign({}, services.jobs.behaviour(), ...inputBehaviours, reading.behaviour);
  // Only class A honours the key; for the others it is an unknown header.
  const key = recoveryClassOf(request.model) === "replay" ? context.req.header("idempotency-key") : undefined;
  return { request, prompt: reading.text, behaviour, key };
};

const accept = (services: SandboxServices, context: Context<Bindings>, posting: ParsedPost): Job => {
  const { request, prompt, behaviour } = posting;
  const { images, mask, ...plain } = request;
  const id = `job_${randomBytes(16).toString("hex")}`;
  const job = services.jobs.accept({
    fact: "accepted",
    id,
    at: new Date().toISOString(),
    request: {
      ...withSide(plain, services.side),
      prompt,
      images: images.map(services.inputs.store),
      ...(mask && { mask: services.inputs.store(mask) }),
    },
    behaviour,
    seed: request.seed ?? hash32(id),
    idempotency_key: context.req.header("idempotency-key") ?? null,
  });
  services.runner.start(job);
  return job;
};

const replay = (services: SandboxServices, context: Context<Bindings>, job: Job): Response => {
  services.jobs.append({ fact: "posted_again", id: job.id });
  return context.json(renderJob(job, services.url), 200);
};

const dropConnection = (context: Context<Bindings>): Response => {
  context.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
};

/** The ledger also records when a caller disconnected before its response was sent. */
const recordLostResponse = (services: SandboxServices, context: Context<Bindings>, job: Job): void => {
  const { outgoing } = context.env;
  const look = (): void => {
    if (outgoing.writableFinished || job.answer_lost || services.closing.aborted) return;
    services.jobs.append({ fact: "answer_lost", id: job.id });
  };
  if (outgoing.destroyed) look();
  else outgoing.once("close", look);
};

export const postJob =
  (services: SandboxServices) =>
  async (context: Context<Bindings>): Promise<Response> => {
    const posting = await parsePost(services, context);
    if ("status" in posting) return respondWithError(context, posting);
    const { request, behaviour, key } = posting;
    const known = services.jobs.findByKey(key);
    if (known) return replay(services, context, known);

    const verdict = services.faults.decidePost(request.prompt ?? "", behaviour);
    if (verdict.kind === "lost") return dropConnection(context);
    if (verdict.kind === "refused") {
      if (verdict.status === 429 || verdict.status === 503) context.header("retry-after", "1");
      return respondWithError(context, verdict);
    }

    const half = (behaviour.accept_delay ?? 0) * 500;
    if (half) await wait(half, undefined, { signal: services.closing });
    // Another POST with the same key may have been accepted while this one waited.
    const meanwhile = services.jobs.findByKey(key);
    if (meanwhile) return replay(services, context, meanwhile);
    const job = accept(services, context, posting);
    const response = { id: job.id, status: job.status, progress: 0, created_at: job.created_at };
    const ended = behaviour.callback_first ? services.runner.whenEnded(job) : undefined;
    const isLost = services.faults.dropsResponse(request.prompt ?? "", behaviour, job.id);
    if (isLost) services.jobs.append({ fact: "answer_lost", id: job.id });
    else recordLostResponse(services, context, job);
    if (half) await wait(half, undefined, { signal: services.closing });
    await ended;
    return isLost ? dropConnection(context) : context.json(response, 202);
  };
