// Asks before a tool spends more than the operator allows without a question: with an elicitation if the client has
// one, and otherwise by a refusal that names `confirm_cost`. A model can set that field without asking anyone, so it
// counts only where the client cannot ask, and up to a limit. No run exists until the cost is confirmed.
import { createHash } from "node:crypto";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { Fault } from "../../faults/faults.ts";
import type { SecretKeys } from "../../runtime/secret-keys.ts";

export const McpEnv = z.object({
  MCP_CONFIRM_ABOVE: z.coerce
    .number()
    .min(0)
    .default(1)
    .describe(
      "Estimated cost of a run in US dollars above which a tool of the MCP server asks the user first. Default: 1",
    ),
  MCP_CONFIRM_COST_MAX: z.coerce
    .number()
    .min(0)
    .default(5)
    .describe(
      "Highest estimated cost of a run in US dollars that `confirm_cost` can confirm, for clients of the MCP server that cannot ask their user. Default: 5",
    ),
});

/** What the client sends back with the answer to the question. It is signed, and bound to the caller. */
type ConfirmationState = { call: string; estimate: number };

export type ToolCallIdentity = { name: string; arguments: JsonObject };

const QUESTION = "confirm_cost";
const VALID_SECONDS = 600;
const Answer = z.object({ confirm: z.boolean() });

/** `above`: what needs a confirmation. `maxByModel`: what `confirm_cost` can confirm at most. In US dollars. */
export type ConfirmationLimits = { above: number; maxByModel: number };

export type CostConfirmation = {
  /** Throws unless the state is of this server, this caller and of the last 10 minutes. */
  verify(state: string, context: ServerContext): Promise<unknown>;
  /** What the caller has confirmed for this call, in US dollars. */
  findConfirmedCost(call: ToolCallIdentity, context: ServerContext): number;
  /** Whether the user answered the question, and not with yes. */
  isDeclined(context: ServerContext): boolean;
  /** Throws confirmation_required if the estimate is above what is allowed and confirmed. */
  check(estimate: number | null, confirmed: number): void;
  /** The question, or undefined if the client cannot ask its user. */
  ask(fault: Fault, call: ToolCallIdentity, context: ServerContext): Promise<InputRequiredResult | undefined>;
};

export function createCostConfirmation(secrets: SecretKeys, limits: ConfirmationLimits): CostConfirmation {
  const bind = (context: ServerContext) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ""}`;
  const codecs = secrets.map((key) =>
    createRequestStateCodec<ConfirmationState>({ key, bind, ttlSeconds: VALID_SECONDS }),
  );
  return {
    verify: (state, context) => Promise.any(codecs.map((codec) => codec.verify(state, context))),
    findConfirmedCost(call, context) {
      const given = canElicit(context) ? undefined : call.arguments.confirm_cost;
      const state = context.mcpReq.requestState<ConfirmationState>();
      const answer = acceptedContent(context.mcpReq.inputResponses, QUESTION, Answer);
      const isConfirmed = answer?.confirm === true && state?.call === digestOf(call);
      const byModel = typeof given === "number" ? Math.min(given, limits.maxByModel) : 0;
      return Math.max(byModel, isConfirmed ? state.estimate : 0);
    },
    isDeclined({ mcpReq: { inputResponses } }) {
      const isAnswered = inputResponses?.[QUESTION] !== undefined;
      return isAnswered && acceptedContent(inputResponses, QUESTION, Answer)?.confirm !== true;
    },
    check(estimate, confirmed) {
      // A price that is not known is no question: nothing could be confirmed. `max_cost` refuses such runs.
      if (estimate === null || estimate <= Math.max(limits.above, confirmed)) return;
      const details = { estimate, confirm_above: limits.above, confirm_cost_max: limits.maxByModel };
      throw new Fault("confirmation_required", details);
    },
    async ask(fault, call, context) {
      if (!canElicit(context)) return undefined;
      const estimate = Number(fault.details.estimate);
      const message = `${call.name} would cost $${estimate}. Start it?`;
      return inputRequired({
        inputRequests: { [QUESTION]: inputRequired.elicit({ message, requestedSchema: Answer }) },
        requestState: await codecs[0]!.mint({ call: digestOf(call), estimate }, context),
      });
    },
  };
}

/** Only clients of 2026-07-28 can: they say what they can with each request, and answer with another request. */
const canElicit = ({ mcpReq: { envelope } }: ServerContext) =>
  ((envelope as JsonObject | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as JsonObject | undefined)?.elicitation !==
  undefined;

const digestOf = (call: ToolCallIdentity) =>
  createHash("sha256")
    .update(JSON.stringify([call.name, call.arguments]))
    .digest("base64url");
