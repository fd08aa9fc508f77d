// The default behaviour of the sandbox, and with `?input=SHA-256` that of jobs with this image, for requests without a
// prompt. A PUT replaces it; one of the default also resets the fault counters.
import { Hono } from "hono";
import { Behaviour } from "../behaviour.ts";
import { invalidFields, respondWithError } from "../error-response.ts";
import type { Bindings, SandboxServices } from "../sandbox-services.ts";

export const behaviourRoutes = (services: SandboxServices): Hono<Bindings> =>
  new Hono<Bindings>()
    .get("/", (context) => {
      const input = context.req.query("input");
      return context.json(input === undefined ? services.jobs.behaviour() : services.jobs.inputBehaviour(input));
    })
    .put("/", async (context) => {
      const parsed = Behaviour.safeParse(await context.req.json().catch(() => undefined));
      if (!parsed.success) return respondWithError(context, invalidFields(parsed.error));
      const input = context.req.query("input");
      if (input !== undefined) services.jobs.setInputBehaviour(input, parsed.data);
      else {
        services.jobs.setBehaviour(parsed.data);
        services.faults.reset();
      }
      return context.json(parsed.data);
    });
