// The standing behaviour of the vendor. A PUT replaces all of it and lets the counted troubles begin anew.
import { Hono } from "hono";
import { Behaviour } from "../behaviour.ts";
import { refuse, unfitFields } from "../refusal.ts";
import type { Bindings, Vendor } from "../vendor.ts";

export const behaviourRoutes = (vendor: Vendor): Hono<Bindings> =>
  new Hono<Bindings>()
    .get("/", (context) => context.json(vendor.book.behaviour()))
    .put("/", async (context) => {
      const parsed = Behaviour.safeParse(await context.req.json().catch(() => undefined));
      if (!parsed.success) return refuse(context, unfitFields(parsed.error));
      vendor.book.behave(parsed.data);
      vendor.gate.reset();
      return context.json(parsed.data);
    });
