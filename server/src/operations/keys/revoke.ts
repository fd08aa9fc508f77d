import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Key, keyId } from "../../kit/shapes-access.ts";

export const revokeKey = defineOperation({
  name: "keys.revoke",
  summary: "Make a key useless, with every token that it has minted; everywhere within five seconds",
  http: { method: "DELETE", path: "/keys/:key_id" },
  input: z.object({ key_id: keyId() }),
  output: Key,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  answer: (input, ask) => ask.keys.revoke(input.key_id),
});
