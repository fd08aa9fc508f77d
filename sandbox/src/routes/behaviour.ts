// The default behaviour of the sandbox. A PUT replaces it and resets the fault counters.
import { Hono } from "hono";
import { Behaviour } from "../behaviour.ts";
import { invalidFields, respondWithError } from "../error-response.ts";
import type { Bindings, SandboxServices } from "../sandbox-services.ts";

export const behaviourRoutes = (services: SandboxServices): Hono<Bindings> =>
  new Hono<Bindings>()
    .get("/", (context) => context.json(services.jobs.behaviour()))
    .put("/", async (context) => {
      const parsed = Behaviour.safeParse(await context.req.json().catch(() => undefined));
      if (!parsed.success) return respondWithError(context, invalidFields(parsed.error));
      services.jobs.setBehaviour(parsed.data);
      services.faults.reset();
      return context.json(parsed.data);
    });
