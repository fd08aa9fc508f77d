// Builds the MCP server of one request. Nothing is kept between requests: all state is in runs.
import { type McpRequestContext, Server } from "@modelcontextprotocol/server";
import { VERSION } from "../../runtime/version.ts";
import type { Call } from "../pipeline.ts";
import { callTool, type McpServices } from "./call-tool.ts";
import { listResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";
import { TOOLS } from "./tools/index.ts";

const INSTRUCTIONS =
  "Gesso makes and edits images and videos. Every call that makes something creates a run, and its run_id can be sent " +
  "as `image` to other tools. If an answer says that a run is queued or processing, call get_run with its run_id until " +
  "it has ended; do not start it again. Show the link of a result to the user. Runs cost money: estimate shows how much.";

/** The same for every caller, until another version of the server runs. */
const CACHED_FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: "public" } as const;

const LISTED_TOOLS = TOOLS.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
  ...{ name, title, description, annotations },
  inputSchema: inputSchema as { type: "object" },
  outputSchema: outputSchema as { type: "object" },
}));

/** The admitted HTTP request comes with the validated credential, as `extra.call`. */
export const createMcpServer =
  (services: McpServices) =>
  ({ authInfo }: McpRequestContext): Server => {
    const call = authInfo!.extra!.call as Call;
    const server = new Server(
      { name: "gesso", title: "Gesso", version: VERSION },
      {
        capabilities: { tools: {}, resources: {} },
        instructions: INSTRUCTIONS,
        cacheHints: {
          "tools/list": CACHED_FOR_AN_HOUR,
          "resources/templates/list": CACHED_FOR_AN_HOUR,
          "server/discover": CACHED_FOR_AN_HOUR,
        },
        requestState: { verify: services.costConfirmation.verify },
      },
    );
    server.setRequestHandler("tools/list", () => ({ tools: LISTED_TOOLS }));
    server.setRequestHandler("tools/call", ({ params }, context) => callTool(services, call, params, context));
    server.setRequestHandler("resources/list", () => listResources(services, call));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler("resources/read", ({ params }) => readResource(services, call, params.uri));
    return server;
  };
