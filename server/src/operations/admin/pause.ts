import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { exactlyOne } from "../../kit/rules.ts";
import { PauseList, pausedPartFields } from "../../kit/schemas/admin-repairs.ts";

export const pausePartOfInstallation = defineOperation({
  name: "admin.pause",
  summary: "Start nothing new for a provider, a tenant, a background duty or a worker until you resume it (operator)",
  http: { method: "POST", path: "/admin/pause", bodies: ["json"] },
  changes: "installation",
  input: z.object(pausedPartFields),
  rules: [exactlyOne("provider", "tenant_id", "duty", "worker_id")],
  output: PauseList,
  example: { provider: "fal" },
  respond: (part, services) => services.admin.pause(part),
});
