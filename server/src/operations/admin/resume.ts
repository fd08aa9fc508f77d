import { z } from "zod";
import { type PauseDependencies, resumePart } from "../../admin/pauses.ts";
import { exactlyOne } from "../../contract/rules.ts";
import { PauseList, pausedPartFields } from "../../contract/schemas/admin-repairs.ts";
import { defineQuery } from "../define-query.ts";

export const resumePartOfInstallation = defineQuery({
  name: "admin.resume",
  summary: "Resume a provider, a tenant, a background duty or a worker (operator)",
  http: { method: "POST", path: "/admin/resume", bodies: ["json"] },
  changes: "installation",
  input: z.object(pausedPartFields),
  rules: [exactlyOne("provider", "tenant_id", "duty", "worker_id")],
  output: PauseList,
  example: { provider: "fal" },
  handle: (part, request, services: PauseDependencies) => resumePart(services, request, part),
});
