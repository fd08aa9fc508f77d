import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Key, keyId } from "../../kit/shapes-access.ts";

export const getKey = defineOperation({
  name: "keys.get",
  summary: "What is known of a key: never the key itself",
  http: { method: "GET", path: "/keys/:key_id" },
  input: z.object({ key_id: keyId() }),
  output: Key,
  example: { key_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  answer: (input, ask) => ask.keys.get(input.key_id),
});
