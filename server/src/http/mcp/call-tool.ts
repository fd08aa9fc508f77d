// Calls a tool: the same steps as a request of the HTTP API, and an answer that a model can read. A call that a client
// re-issues because the response was lost joins the run of the first. Waiting ends before clients give up; the run
// continues.
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type RequestContext, scopeToCaller } from "../../access/request-context.ts";
import { authorizeAgent, isOperatorOperation, mayAgentCall } from "../../access/scopes.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault, toFault, type ValidationIssue } from "../../faults.ts";
import type { Operation } from "../../kit/operation.ts";
import { parseInput } from "../../kit/parse.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import { requireOwnRun } from "../../library/operation-services.ts";
import { findTokenSpendLeft } from "../../library/usage.ts";
import { isRunOpen } from "../../runs/render-run.ts";
import { findBestOffer } from "../../runs/select-offer.ts";
import { acceptNewRun, createQueryServices } from "../run-operation.ts";
import { trackDelivery } from "../track-delivery.ts";
import type { ToolCallIdentity } from "./confirm-cost.ts";
import type { McpRequest, McpServices } from "./mcp-request.ts";
import { dollars, renderRunAnswer } from "./run-answer.ts";
import { checkArguments, type IsOffered, type Tool, type ToolAnswer, type ToolRequest } from "./tool.ts";
import { callOperationTool } from "./tools/call-operation.ts";
import { findTool } from "./tools/index.ts";
import { waitForRun } from "./wait-for-run.ts";

/** Of a name that a message repeats. */
const MAX_NAME_CHARACTERS = 100;

type ToolCall = { tool: Tool; identity: ToolCallIdentity; mcp: McpRequest; context: ServerContext };

export async function callTool(
  services: McpServices,
  mcp: McpRequest,
  params: { name: string; arguments?: JsonObject | undefined },
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const tool = findTool(params.name);
  if (!tool)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown tool: ${params.name.slice(0, MAX_NAME_CHARACTERS)}`,
    );
  const identity = { name: tool.name, arguments: params.arguments ?? {} };
  const call: ToolCall = { tool, identity, mcp, context };
  try {
    checkArguments(tool, identity.arguments);
    if (tool.describe)
      return renderAnswer(tool.describe(identity.arguments, (operation) => mayAgentCall(mcp.caller, operation)));
    return await callTranslated(services, call);
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.code === "confirmation_required") {
      const question = await services.costConfirmation.ask(fault, identity, context);
      if (question) return question;
    }
    return renderFault(services, mcp, fault);
  }
}

async function callTranslated(services: McpServices, call: ToolCall): Promise<CallToolResult> {
  const { tool, identity, mcp } = call;
  const { confirm_cost: _confirmed, ...args } = identity.arguments;
  const isOffered: IsOffered = (task, model) => findBestOffer(services.runs, { task, model }) !== undefined;
  const { operation, input, names = {} } = tool.translate!(args, isOffered);
  authorizeAgent(mcp.caller, operation);
  const parsed = withToolNames(names, () => parseInput(operation, input, operation.http.bodies ? "json" : undefined));
  mcp.admitted.endParsing();
  const request = await createRequestContext(services, call, operation);
  if (operation.plan || operation.repeatRun)
    return withToolNames(names, () => startRun(services, call, { operation, request, parsed }));

  const queryServices = createQueryServices(services, request);
  const response = (await operation.respond!(parsed.input, queryServices)) as JsonObject;
  if (tool.answer) return renderAnswer(tool.answer(response, args));
  return answerWithRun(services, call, request, await requireOwnRun(request, String(response.run_id)));
}

type NewRun = { operation: Operation; request: RequestContext; parsed: ReturnType<typeof parseInput> };

async function startRun(services: McpServices, call: ToolCall, run: NewRun): Promise<CallToolResult> {
  const { costConfirmation } = services;
  const { identity, mcp, context } = call;
  if (costConfirmation.isDeclined(context))
    return { content: [{ type: "text", text: "The user did not confirm the cost. No run was created." }] };
  const confirmed = costConfirmation.findConfirmedCost(identity, context);
  const { row } = await acceptNewRun(
    services,
    {
      ...{ operation: run.operation, request: run.request, admitted: mcp.admitted, prefer: { isStrict: false } },
      checkEstimate: (estimate) => costConfirmation.check(estimate, confirmed),
    },
    run.parsed,
  );
  return answerWithRun(services, call, run.request, row);
}

async function answerWithRun(
  services: McpServices,
  { tool, mcp, context }: ToolCall,
  request: RequestContext,
  row: RunRow,
): Promise<CallToolResult> {
  // A canceled run ends soon, or when its provider lets go of it. The caller need not wait for that.
  const isWaiting = isRunOpen(row) && tool.name !== "cancel_run";
  const current = isWaiting ? await waitForRun(services, { mcp, request, context }, row) : row;
  return renderRunAnswer({ ...services.runs, database: request.database }, current, {
    spendLeft: await findTokenSpendLeft(request),
  });
}

/** What creates something is joined with an equal earlier call whose response was lost. */
async function createRequestContext(
  services: McpServices,
  { tool, identity, mcp }: ToolCall,
  operation: Operation,
): Promise<RequestContext> {
  const { caller, admitted, requestId } = mcp;
  const { database, log } = services.runs;
  const isCreating =
    operation.plan || operation.repeatRun || (tool === callOperationTool && operation.http.method !== "GET");
  const joined = isCreating
    ? await services.clientRequests.join({ caller, api: "mcp", content: identity, isRetry: false })
    : undefined;
  if (joined) trackDelivery(mcp.outgoing, joined, log);
  return {
    ...{ caller, requestId, cursors: services.cursors, idempotencyKey: joined?.idempotencyKey },
    database: isOperatorOperation(operation) ? database : scopeToCaller(database, caller),
    storageLimits: services.admission.resolveStorageLimits(caller),
    onReplay: admitted.refundRequestRateLimit,
    onRunAccepted() {},
  };
}

const renderAnswer = ({ text, content }: ToolAnswer): CallToolResult => ({
  content: [{ type: "text", text }],
  structuredContent: content,
});

/** Errors name the fields of the tool, not those of the operation. */
function withToolNames<T>(names: NonNullable<ToolRequest["names"]>, perform: () => T): T {
  const rename = (thrown: unknown): never => {
    const { errors } = thrown instanceof Fault ? thrown.details : {};
    if (!(thrown instanceof Fault) || !Array.isArray(errors)) throw thrown;
    throw new Fault(thrown.code, { ...thrown.details, errors: errors.map((issue) => renameIssue(names, issue)) });
  };
  try {
    const result = perform();
    return result instanceof Promise ? (result.catch(rename) as T) : result;
  } catch (thrown) {
    return rename(thrown);
  }
}

function renameIssue(names: Record<string, string>, issue: ValidationIssue): ValidationIssue {
  const [, field = "", rest = ""] = /^\/([^/]*)(.*)$/s.exec(issue.path) ?? [];
  return { ...issue, path: `/${names[field] ?? field}${rest}` };
}

async function renderFault(services: McpServices, { caller, requestId }: McpRequest, fault: Fault) {
  const { database, log } = services.runs;
  if (fault.status >= 500)
    log.error({ request_id: requestId, code: fault.code, err: fault.cause ?? fault }, "tool call failed");
  const issues = Array.isArray(fault.details.errors) ? (fault.details.errors as ValidationIssue[]) : [];
  const errorCount = typeof fault.details.error_count === "number" ? fault.details.error_count : undefined;
  const left =
    fault.status === 402 ? await findTokenSpendLeft({ caller, database: scopeToCaller(database, caller) }) : undefined;
  const estimate =
    fault.status === 402 && typeof fault.details.estimate === "number" ? fault.details.estimate : undefined;
  const lines = [
    // The details are in the lines below, not in a field that the model could read.
    `${fault.message.replace(/ See details[.\w]*\.$/, "")} (${fault.code})`,
    ...issues.map(({ path, message }) => `${path.slice(1).replaceAll("/", ".")}: ${message}`),
    ...(errorCount !== undefined ? [`${errorCount - issues.length} more errors are not listed.`] : []),
    ...(estimate !== undefined ? [`The estimate is ${dollars(estimate)}.`] : []),
    ...(left !== undefined ? [`${dollars(left)} of the spending limit of this token is left.`] : []),
    ...(fault.code === "model_unavailable" ? ["Call list_models for the models of this server."] : []),
    ...(fault.status >= 500 ? [`Request ID: ${requestId}`] : []),
  ];
  return { content: [{ type: "text" as const, text: lines.join("\n") }], isError: true };
}
