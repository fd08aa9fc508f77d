// The MCP server at `/mcp`: streamable HTTP without sessions, for clients of 2026-07-28 and of 2025. Every request is
// authenticated and admitted like a request of the HTTP API. Clients find the identity providers by the metadata of the
// protected resource (RFC 9728).
import { createMcpHandler } from "@modelcontextprotocol/server";
import { type Context, Hono } from "hono";
import type { HttpMethod } from "../../contract/operation.ts";
import { Fault } from "../../faults/faults.ts";
import type { SecretKeys } from "../../runtime/secret-keys.ts";
import { corsMiddleware } from "../cors.ts";
import { respondWithFault } from "../error-response.ts";
import type { HttpServices } from "../http-services.ts";
import { admit } from "../pipeline.ts";
import { type HttpBindings, readJson } from "../read-request.ts";
import { type ConfirmationLimits, createCostConfirmation } from "./confirm-cost.ts";
import { createMcpServer } from "./mcp-server.ts";

export type McpOptions = {
  publicUrl: string;
  /** Web origins whose pages may call the server. */
  corsOrigins: readonly string[];
  /** Identity providers whose tokens are accepted. */
  issuerUrls: readonly string[];
  confirmation: ConfirmationLimits;
  /** Sign the state of a question. */
  stateSecrets: SecretKeys;
};

const PATH = "/mcp";
const METADATA_PATH = "/.well-known/oauth-protected-resource/mcp";
/** Every request counts as new work, because most calls create a run. */
const ADMITTED_AS = { http: { method: "POST" as HttpMethod, path: PATH, bodies: ["json" as const] } };

export function mcpRoutes(http: HttpServices, options: McpOptions): Hono<HttpBindings> {
  const { log } = http.runs;
  const root = options.publicUrl.replace(/\/+$/, "");
  const costConfirmation = createCostConfirmation(options.stateSecrets, options.confirmation);
  const handler = createMcpHandler(createMcpServer({ ...http, costConfirmation }), {
    // Nothing changes that a client could subscribe to.
    maxSubscriptions: 0,
    onerror: (error) => log.warn({ err: error }, "MCP request refused"),
  });
  const requireOwnOrigin = createOriginCheck(root, options.corsOrigins);

  const serve = async (context: Context<HttpBindings>): Promise<Response> => {
    requireOwnOrigin(context.req.header("origin"));
    const requirePost = () => {
      if (context.req.method === "POST") return;
      context.header("allow", "POST");
      throw new Fault("method_not_allowed");
    };
    return admit(http, context, { operation: ADMITTED_AS, onAuthenticated: requirePost }, async (call) => {
      const { caller, admitted } = call;
      const parsedBody = await readJson(context, true, admitted.body);
      const clientId = [caller.tenant_id, caller.user_id, caller.key_id ?? ""].join(" ");
      const authInfo = { token: "", clientId, scopes: [...caller.scopes], extra: { call } };
      return handler.fetch(context.req.raw, { authInfo, parsedBody });
    });
  };

  const app = new Hono<HttpBindings>();
  app.use(PATH, corsMiddleware(options.corsOrigins));
  app.all(PATH, (context) =>
    serve(context).catch((thrown) => {
      const response = respondWithFault(context, thrown, log);
      if (response.status === 401)
        context.header("www-authenticate", `Bearer resource_metadata="${root}${METADATA_PATH}"`);
      return response;
    }),
  );
  const metadata = {
    resource: `${root}${PATH}`,
    resource_name: "Gesso",
    authorization_servers: options.issuerUrls,
    bearer_methods_supported: ["header"],
  };
  app.get(METADATA_PATH, (context) => context.json(metadata, 200, { "access-control-allow-origin": "*" }));
  return app;
}

/** A page of another site must not reach a server on this machine or in this network, not even without a credential. */
function createOriginCheck(publicUrl: string, corsOrigins: readonly string[]): (origin: string | undefined) => void {
  const allowed = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  return (origin) => {
    if (origin === undefined || allowed.has(origin) || allowed.has("*")) return;
    throw new Fault("permission_denied", { reason: "origin" });
  };
}
