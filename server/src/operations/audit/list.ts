import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { AuditPage } from "../../kit/shapes-access.ts";

export const listAudit = defineOperation({
  name: "audit.list",
  summary: "Every change to the tenant's keys, people and settings, newest first (owner)",
  http: { method: "GET", path: "/audit" },
  input: z.object(perPage),
  output: AuditPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.audit(input),
});
