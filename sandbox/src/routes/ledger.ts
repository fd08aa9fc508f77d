// The vendor's own account of what it took and what it gave: the book that a campaign is checked against.
import { Hono } from "hono";
import type { Job } from "../job.ts";
import { notFound, refuse } from "../refusal.ts";
import type { Bindings, Vendor } from "../vendor.ts";

const rowOf = (job: Job) => ({
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
  answer_lost: job.answer_lost,
  /** As it was received, with directives taken out of the prompt and bytes out of the images. */
  request: job.request,
});

export const ledgerRoutes = (vendor: Vendor): Hono<Bindings> =>
  new Hono<Bindings>()
    .get("/", (context) => context.json({ data: [...vendor.book.jobs.values()].map(rowOf) }))
    .get("/inputs/:file", async (context) => {
      const bytes = await vendor.inputs.received(context.req.param("file"));
      return bytes ? context.body(new Uint8Array(bytes)) : refuse(context, notFound);
    });
