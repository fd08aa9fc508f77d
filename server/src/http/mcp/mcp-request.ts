// What serves one HTTP request to the MCP server.
import type { ServerResponse } from "node:http";
import type { Caller } from "../../db/access/caller.ts";
import type { AdmittedRequest } from "../admission.ts";
import type { HttpServices } from "../http-services.ts";
import type { CostConfirmation } from "./confirm-cost.ts";

/** An HTTP request to the MCP server, by an admitted caller. */
export type McpRequest = {
  caller: Caller;
  admitted: AdmittedRequest;
  requestId: string;
  /** Tells whether the response was delivered. */
  outgoing: ServerResponse;
};

export type McpServices = HttpServices & { costConfirmation: CostConfirmation };
