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
import { authorizeAgent, mayAgentCall } from "../../access/scopes.ts";
import { parseInput } from "../../contract/parse.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault, toFault, type ValidationIssue } from "../../faults/faults.ts";
import { findTokenSpendLeft } from "../../money/usage.ts";
import { findBestOffer } from "../../runs/offers/select-offer.ts";
import { requireOwnRun } from "../../runs/show/own-run.ts";
import type { HttpServices } from "../http-services.ts";
import { type Call, type OperationRequest, perform, type Wait, waitForRun } from "../pipeline.ts";
import type { CostConfirmation, ToolCallIdentity } from "./confirm-cost.ts";
import { dollars, renderRunAnswer } from "./run-answer.ts";
import { checkArguments, type IsOffered, type Tool, type ToolAnswer, type ToolTranslation } from "./tool.ts";
import { callOperationTool } from "./tools/call-operation.ts";
import { findTool } from "./tools/index.ts";

export type McpServices = HttpServices & { costConfirmation: CostConfirmation };

/** Of a name that a message repeats. */
const MAX_NAME_CHARACTERS = 100;

type ToolCall = { tool: Tool; identity: ToolCallIdentity; call: Call; context: ServerContext };

export async function callTool(
  services: McpServices,
  httpCall: Call,
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
  // A client can cancel one tool call, too.
  const call: Call = { ...httpCall, signal: context.mcpReq.signal };
  try {
    checkArguments(tool, identity.arguments);
    if (tool.describe)
      return renderAnswer(tool.describe(identity.arguments, (operation) => mayAgentCall(call.caller, operation)));
    return await callTranslated(services, { tool, identity, call, context });
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.code === "confirmation_required") {
      const question = await services.costConfirmation.ask(fault, identity, context);
      if (question) return question;
    }
    return renderFault(services, call, fault);
  }
}

async function callTranslated(services: McpServices, toolCall: ToolCall): Promise<CallToolResult> {
  const { costConfirmation } = services;
  const { tool, identity, call, context } = toolCall;
  const { confirm_cost: _confirmed, ...args } = identity.arguments;
  const isOffered: IsOffered = (task, model) => findBestOffer(services.runs, { task, model }) !== undefined;
  const { operation, input, names = {} } = tool.translate!(args, isOffered);
  authorizeAgent(call.caller, operation);
  const parsed = withToolNames(names, () => parseInput(operation, input, operation.http.bodies ? "json" : undefined));
  call.admitted.endParsing();
  const isNewRun = Boolean(operation.plan || operation.repeatRun);
  if (isNewRun && costConfirmation.isDeclined(context))
    return { content: [{ type: "text", text: "The user did not confirm the cost. No run was created." }] };
  // What creates something is joined with an equal earlier call whose response was lost.
  const isCreating = isNewRun || (tool === callOperationTool && operation.http.method !== "GET");
  const request: OperationRequest = {
    ...{ operation, parsed, wait: isNewRun ? toolWait(services, context) : { seconds: 0 } },
    repeat: isCreating ? { api: "mcp", content: identity, isRetry: false } : undefined,
    checkEstimate: (estimate) =>
      costConfirmation.check(estimate, costConfirmation.findConfirmedCost(identity, context)),
  };
  const outcome = await (isNewRun
    ? withToolNames(names, () => perform(services, call, request))
    : perform(services, call, request));
  if (outcome.kind === "run") return renderRun(services, outcome.row, outcome.request);
  if (outcome.kind !== "body") throw new Error(`A tool cannot respond with ${outcome.kind}.`);
  if (tool.answer) return renderAnswer(tool.answer(outcome.body, args));
  const row = await requireOwnRun(outcome.request, String(outcome.body.run_id));
  // A canceled run ends soon, or when its provider lets go of it. The caller need not wait for that.
  const wait = tool.name === "cancel_run" ? { seconds: 0 } : toolWait(services, context);
  const current = await waitForRun(services, { ...call, context: outcome.request }, row, wait);
  return renderRun(services, current, outcome.request);
}

const renderRun = async (services: McpServices, row: RunRow, request: RequestContext): Promise<CallToolResult> =>
  renderRunAnswer({ ...services.runs, database: request.database }, row, {
    spendLeft: await findTokenSpendLeft(request),
  });

const renderAnswer = ({ text, content }: ToolAnswer): CallToolResult => ({
  content: [{ type: "text", text }],
  structuredContent: content,
});

/** Errors name the fields of the tool, not those of the operation. */
function withToolNames<T>(names: NonNullable<ToolTranslation["names"]>, perform: () => T): T {
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

async function renderFault(services: McpServices, { caller, requestId }: Call, fault: Fault) {
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

/**
 * How long a tool call waits for its run, and the progress that it reports meanwhile if the client asked for it.
 * Clients give up after 60 s or later.
 */
export const MAX_WAIT_SECONDS = 45;
/** Progress must rise with every notification, also if a provider reports none. */
const LEAST_STEP = 0.001;

function toolWait({ runs }: Pick<HttpServices, "runs">, context: ServerContext): Wait {
  const seconds = Math.min(MAX_WAIT_SECONDS, runs.settings.timeouts.syncSeconds);
  if (context.mcpReq._meta?.progressToken === undefined) return { seconds };
  let progress = 0;
  return {
    seconds,
    async onProgress(run) {
      progress = Math.max(progress + LEAST_STEP, Math.min(run.progress, 1));
      await reportProgress(context, run, progress);
    },
  };
}

async function reportProgress({ mcpReq }: ServerContext, run: RunRow, progress: number): Promise<void> {
  const message = run.status === "queued" ? "queued" : (run.phase ?? run.status);
  const params = { progressToken: mcpReq._meta!.progressToken!, progress, total: 1, message };
  // A client that is gone is noticed by the signal.
  await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
}
