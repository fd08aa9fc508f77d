// The sandbox's own record of accepted jobs and deliveries, which campaigns compare with Gesso's ledger. With
// `?reference=PREFIX`, only the jobs whose reference begins so: Gesso's begins with the ID of the run.
import { Hono } from "hono";
import { notFound, respondWithError } from "../error-response.ts";
import type { Job } from "../job.ts";
import type { Bindings, SandboxServices } from "../sandbox-services.ts";

const renderLedgerRow = (job: Job) => ({
  id: job.id,
  model: job.request.model,
  reference: job.request.reference ?? null,
  idempotency_key: job.idempotency_key,
  accepted_at: job.created_at,
  status: job.status,
  delivered: job.delivered,
  posts: job.posts,
  canceled_at: job.canceled_at,
  callback_attempts: job.callback_attempts,
  callback_taken_at: job.callback_taken_at,
  answer_lost: job.answer_lost,
  /** As received, without the directives of the prompt and the bytes of the images. */
  request: job.request,
});

export const ledgerRoutes = (services: SandboxServices): Hono<Bindings> =>
  new Hono<Bindings>()
    .get("/", (context) => {
      const prefix = context.req.query("reference") ?? "";
      const jobs = [...services.jobs.jobs.values()].filter(
        ({ request }) => request.reference?.startsWith(prefix) ?? !prefix,
      );
      return context.json({ data: jobs.map(renderLedgerRow) });
    })
    .get("/inputs/:file", async (context) => {
      const bytes = await services.inputs.readOriginal(context.req.param("file"));
      return bytes ? context.body(new Uint8Array(bytes)) : respondWithError(context, notFound);
    });
