import { z } from "zod";
import { findVisibleKey, renderOneKey } from "../../access/keys.ts";
import { ApiKey, keyId } from "../../contract/schemas/access.ts";
import { defineQuery } from "../define-query.ts";

export const getKey = defineQuery({
  name: "keys.get",
  summary: "Get a key, without its secret",
  http: { method: "GET", path: "/keys/:key_id" },
  input: z.object({ key_id: keyId() }),
  output: ApiKey,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  handle: async ({ key_id }, request) => renderOneKey(request, await findVisibleKey(request, key_id)),
});
