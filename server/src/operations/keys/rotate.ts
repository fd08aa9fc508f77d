import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { keyId, NewApiKey } from "../../kit/schemas/access.ts";

const MONTH_SECONDS = 30 * 24 * 60 * 60;

export const rotateKey = defineOperation({
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
  respond: (input, services) => services.keys.rotate(input.key_id, input.overlap_seconds),
});
