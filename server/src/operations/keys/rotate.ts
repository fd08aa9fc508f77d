import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { findManageableKey, newApiKeyRow, renderOneKey } from "../../access/keys.ts";
import { keyId, NewApiKey } from "../../contract/schemas/access.ts";
import { rotateApiKey } from "../../db/access/api-keys.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Pick<AccessDependencies, "ids" | "cell" | "invalidateCredentials">;

const MONTH_SECONDS = 30 * 24 * 60 * 60;

export const rotateKey = defineQuery({
  name: "keys.rotate",
  summary: "Rotate a key: create its replacement. Both work during the overlap and share limits and children",
  http: { method: "POST", path: "/keys/:key_id/rotate", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    key_id: keyId(),
    overlap_seconds: z
      .int()
      .min(0)
      .max(MONTH_SECONDS)
      .default(24 * 60 * 60)
      .describe("Seconds during which the old key still works, 0 to 2592000. Default: 86400"),
  }),
  output: NewApiKey,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", overlap_seconds: 3600 },
  async handle({ key_id, overlap_seconds: overlapSeconds }, request, services: Needs) {
    const old = await findManageableKey(request, key_id);
    const { key, ...secret } = newApiKeyRow(services);
    const row = await rotateApiKey(request.database, request.caller, { ...secret, old, overlapSeconds });
    if (!row) throw new Fault("conflict", { retryable: false, reason: "not_in_force" });
    services.invalidateCredentials();
    return { ...(await renderOneKey(request, row)), key };
  },
});
