import { z } from "zod";
import { type PauseDependencies, pausePart } from "../../admin/pauses.ts";
import { exactlyOne } from "../../contract/rules.ts";
import { PauseList, pausedPartFields } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const pausePartOfInstallation = defineQuery({
  name: "admin.pause",
  summary: "Start nothing new for a provider, a tenant, a background duty or a worker until you resume it (operator)",
  http: { method: "POST", path: "/admin/pause", bodies: ["json"] },
  changes: "installation",
  input: z.object(pausedPartFields),
  rules: [exactlyOne("provider", "tenant_id", "duty", "worker_id")],
  output: PauseList,
  example: { provider: "fal" },
  handle: (part, request, services: PauseDependencies) => pausePart(services, request, part),
});
