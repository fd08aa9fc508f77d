// `GET /cli/config.json`: how `gesso login` can sign in to this server. The response contains no secrets and needs no
// credential.
import { Hono } from "hono";
import manifest from "../../package.json" with { type: "json" };
import type { CliIssuer } from "../access/tokens/issuers.ts";

export function cliConfigRoutes(issuers: readonly CliIssuer[]): Hono {
  const config = { version: manifest.version, sign_in_methods: { key: true, oidc: issuers } };
  return new Hono().get("/cli/config.json", (context) => context.json(config, 200, { "cache-control": "no-store" }));
}
