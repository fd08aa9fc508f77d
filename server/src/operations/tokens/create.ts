import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { scopes, Token } from "../../kit/schemas/access.ts";

const DAY_SECONDS = 24 * 60 * 60;

export const createToken = defineOperation({
  name: "tokens.create",
  summary: "Mint a short-lived access token, for a browser or another place where a key must not be",
  http: { method: "POST", path: "/tokens", bodies: ["json"], status: 201 },
  input: z.object({
    expires_in: z
      .int()
      .min(1)
      .max(DAY_SECONDS)
      .default(15 * 60)
      .describe("Seconds that it works, at most a day; never longer than the key that asks"),
    scopes: scopes(
      "What it may do, never more than the key that asks; everything that one may where left out",
    ).optional(),
    origin: z
      .string()
      .regex(/^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/, { error: "An origin, such as https://app.example.com." })
      .optional()
      .describe("The only origin whose pages may use it"),
    max_spend: z.number().min(0).max(1_000_000_000).optional().describe("US dollars that may be spent with it in all"),
  }),
  output: Token,
  example: { expires_in: 900, scopes: ["images:write", "runs:read"], origin: "https://app.example.com", max_spend: 2 },
  respond: (input, ask) => ask.issueToken(input),
});
