// Reading and canceling jobs.
import { Hono } from "hono";
import { invalidParameters, notFound, respondWithError } from "../error-response.ts";
import { hasEnded, renderJob } from "../job.ts";
import type { Bindings, SandboxServices } from "../sandbox-services.ts";
import { postJob } from "./post-job.ts";

const PAGE_SIZE = 100;

/** All jobs since then, oldest first, also those that cannot be found by their reference. */
function listJobsSince(services: SandboxServices, since: string, after: string | undefined) {
  const recent = [...services.jobs.jobs.values()].filter(({ created_at }) => created_at >= since);
  const from = after ? recent.findIndex(({ id }) => id === after) + 1 : 0;
  const page = recent.slice(from, from + PAGE_SIZE);
  return {
    data: page.map((job) => ({ ...renderJob(job, services.url), reference: job.request.reference ?? null })),
    has_more: from + page.length < recent.length,
  };
}

export const jobRoutes = (services: SandboxServices): Hono<Bindings> =>
  new Hono<Bindings>()
    .post("/", postJob(services))
    .get("/", (context) => {
      const { since, after, reference } = context.req.query();
      if (since) return context.json(listJobsSince(services, since, after));
      if (!reference) return respondWithError(context, invalidParameters("reference: is required"));
      return context.json({
        data: services.jobs.listByReference(reference).map((job) => renderJob(job, services.url)),
      });
    })
    .get("/:id", (context) => {
      const job = services.jobs.jobs.get(context.req.param("id"));
      return job ? context.json(renderJob(job, services.url)) : respondWithError(context, notFound);
    })
    .post("/:id/cancel", (context) => {
      const job = services.jobs.jobs.get(context.req.param("id"));
      if (!job) return respondWithError(context, notFound);
      if (hasEnded(job)) {
        return respondWithError(context, { status: 409, code: "already_ended", message: `The job is ${job.status}.` });
      }
      // Like a vendor, the sandbox charges for a job that it has started.
      const charged = job.startedAt !== null;
      services.runner.cancel(job);
      return context.json({ ...renderJob(job, services.url), charged });
    });
