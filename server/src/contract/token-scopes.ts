// The scopes that an access token can have. A token is given to a visitor of an app, so it reaches what visitors need:
// no credentials, members, audit log, webhooks, usage or tenants, whatever its key may do.
import { z } from "zod";

/** The groups of operations that a token can call. A new group is not among them until it is named here. */
const TOKEN_RESOURCES = ["images", "videos", "runs", "events", "prompts", "models", "catalogue", "provenance"];

export const TOKEN_SCOPES: readonly string[] = TOKEN_RESOURCES.map((resource) => `${resource}:*`);

const TOKEN_SCOPE = new RegExp(`^(${TOKEN_RESOURCES.join("|")}):(read|write|\\*)$`);

export const tokenScopes = () =>
  z
    .array(
      z
        .string()
        .regex(TOKEN_SCOPE, {
          error: ({ input }) =>
            `${String(input).slice(0, 64)} is no scope of access tokens. Give read, write or * of ` +
            `${TOKEN_RESOURCES.join(", ")}, such as images:write.`,
        })
        .describe("A scope"),
    )
    .min(1)
    .max(64)
    .describe(
      `Scopes of the token: read, write or * of ${TOKEN_RESOURCES.join(", ")}. They cannot exceed the scopes of your key`,
    );
