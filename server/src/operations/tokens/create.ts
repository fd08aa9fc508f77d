import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { costTags, endUser, MAX_COST_TAGS } from "../../contract/fields.ts";
import { Token } from "../../contract/schemas/access.ts";
import { tokenScopes } from "../../contract/token-scopes.ts";
import { insertAuditEntry } from "../../db/access/audit-log.ts";
import { defineQuery } from "../define-query.ts";

const DAY_SECONDS = 24 * 60 * 60;

export const createToken = defineQuery({
  name: "tokens.create",
  summary: "Create a short-lived access token, for browsers and other untrusted environments",
  http: { method: "POST", path: "/tokens", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    end_user: endUser(
      "Your own ID of the visitor who gets the token, 1 to 128 printable characters. Runs of the token belong to this " +
        "end user, and the token sees no others",
    ),
    customer: endUser(
      "Your own ID of the customer whom the runs of the token count for. The token cannot change it",
    ).optional(),
    tags: costTags(
      `What else the cost of its runs counts for, at most ${MAX_COST_TAGS}. The token cannot change them`,
    ).optional(),
    scopes: tokenScopes(),
    expires_in: z
      .int()
      .min(1)
      .max(DAY_SECONDS)
      .default(15 * 60)
      .describe("Lifetime in seconds, 1 to 86400, at most until your key expires. Default: 900"),
    origin: z
      .string()
      .regex(/^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/, { error: "Must be an origin such as https://app.example.com." })
      .optional()
      .describe("Web origin that the token is bound to"),
    max_spend: z
      .number()
      .min(0)
      .max(1_000_000_000)
      .optional()
      .describe("Maximum total cost of the runs of this token, in US dollars"),
  }),
  output: Token,
  example: {
    ...{ end_user: "visitor-1", scopes: ["images:write", "runs:read"], expires_in: 900 },
    ...{ origin: "https://app.example.com", max_spend: 2 },
  },
  // The token is returned only after its entry is stored. The entry identifies the token and does not contain it.
  async handle(input, { caller, database }, { accessTokens, ids }: Pick<AccessDependencies, "accessTokens" | "ids">) {
    const tokenId = ids.next();
    const token = await accessTokens.issue(caller, input, tokenId);
    const { end_user, customer = null, tags = [], origin = null, max_spend = null } = input;
    const { scope, expires_in } = token;
    const details = { scopes: scope.split(" "), expires_in, end_user, customer, tags, origin, max_spend };
    await insertAuditEntry(database, caller, { action: "tokens.create", subject: tokenId, details });
    return token;
  },
});
