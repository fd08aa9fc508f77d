// The outputs of jobs. No key is required: the ID cannot be guessed, as with the signed URLs of real vendors.
import { Hono } from "hono";
import { notFound, respondWithError } from "../error-response.ts";
import { visibleOutputs } from "../job.ts";
import type { Bindings, SandboxServices } from "../sandbox-services.ts";

const garbage = Buffer.from(
  "<!doctype html><title>Oops</title><h1>Oops</h1><p>This is a page where an image should be.</p>\n",
);

export const fileRoutes = (services: SandboxServices): Hono<Bindings> =>
  new Hono<Bindings>().get("/:id/:file", async (context) => {
    const job = services.jobs.jobs.get(context.req.param("id"));
    const [place = "", extension] = context.req.param("file").split(".");
    const output = job && /^\d$/.test(place) ? visibleOutputs(job)[Number(place)] : undefined;
    if (!job || !output || output.extension !== extension || job.behaviour.gone)
      return respondWithError(context, notFound);

    const whole = job.behaviour.garbage ? garbage : await services.outputs.draw(job, Number(place));
    const bytes = job.behaviour.truncated ? whole.subarray(0, Math.floor(whole.length / 2)) : whole;
    // A HEAD request is not a delivery.
    if (context.req.method !== "HEAD") services.jobs.append({ fact: "delivered", id: job.id });
    return context.body(new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length), 200, {
      "content-type": job.behaviour.garbage ? "text/html; charset=utf-8" : output.media_type,
      "content-length": String(bytes.length),
    });
  });
