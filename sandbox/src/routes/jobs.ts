// Reading and canceling jobs.
import { Hono } from "hono";
import { hasEnded, showJob } from "../job.ts";
import { notFound, refuse, unfit } from "../refusal.ts";
import type { Bindings, Vendor } from "../vendor.ts";
import { postJob } from "./post-job.ts";

export const jobRoutes = (vendor: Vendor): Hono<Bindings> =>
  new Hono<Bindings>()
    .post("/", postJob(vendor))
    .get("/", (context) => {
      const reference = context.req.query("reference");
      if (!reference) return refuse(context, unfit("reference: is required"));
      return context.json({ data: vendor.book.byReference(reference).map((job) => showJob(job, vendor.url)) });
    })
    .get("/:id", (context) => {
      const job = vendor.book.jobs.get(context.req.param("id"));
      return job ? context.json(showJob(job, vendor.url)) : refuse(context, notFound);
    })
    .post("/:id/cancel", (context) => {
      const job = vendor.book.jobs.get(context.req.param("id"));
      if (!job) return refuse(context, notFound);
      if (hasEnded(job)) {
        return refuse(context, { status: 409, code: "already_ended", message: `The job is ${job.status}.` });
      }
      vendor.runner.cancel(job);
      return context.json(showJob(job, vendor.url));
    });
