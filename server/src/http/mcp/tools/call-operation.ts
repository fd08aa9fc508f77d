// Calls an operation for which there is no tool. Streams and file uploads cannot be called by tools.
import { z } from "zod";
import type { Operation } from "../../../contract/operation.ts";
import type { JsonObject } from "../../../contract/schemas/run.ts";
import { Fault } from "../../../faults/faults.ts";
import { findOperation } from "../../../operations/all.ts";
import { getCatalogueModel } from "../../../operations/catalogue/get-model.ts";
import { estimateRun } from "../../../operations/runs/estimate.ts";
import { RunAnswer } from "../run-answer.ts";
import { confirmCost } from "../run-tool.ts";
import { shortenModel } from "../shorten-model.ts";
import { argumentsSchema, contentSchema, fieldOf, type Tool } from "../tool.ts";

const CallAnswer = RunAnswer.partial().extend({
  operation: z.string().optional(),
  response: z.record(z.string(), z.unknown()).optional(),
});

/** A larger response would fill the context of the model. */
const MAX_RESPONSE_CHARACTERS = 40_000;

const refuse = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "unknown_value", message }] });

/** Why a tool cannot call the operation. Undefined if it can. */
export function describeObstacle({ events, http }: Operation): string | undefined {
  if (events) return "The operation is a stream of events. Call get_run to wait for a run.";
  if (http.bodies && !http.bodies.includes("json"))
    return "The operation takes a file. Send images as data URIs in the image fields of other operations.";
  return undefined;
}

export const callOperationTool: Tool = {
  name: "call_operation",
  title: "Call an operation of the API",
  description:
    "Call any operation of the Gesso API for which there is no tool, such as images.upscale, images.vary, runs.rerun, " +
    "usage.get or prompts.list. describe_operation lists them and shows their input.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  inputSchema: argumentsSchema({
    operation: fieldOf(estimateRun, "operation").describe("Name of the operation, such as images.upscale"),
    input: fieldOf(estimateRun, "input").optional(),
    confirm_cost: confirmCost,
  }),
  outputSchema: contentSchema(CallAnswer),
  translate({ operation: name, input = {} }) {
    const operation = findOperation(String(name));
    if (!operation) throw refuse("/operation", "There is no operation with this name. Call describe_operation.");
    const obstacle = describeObstacle(operation);
    if (obstacle) throw refuse("/operation", obstacle);
    if (input === null || typeof input !== "object" || Array.isArray(input))
      throw refuse("/input", "Must be an object.");
    return { operation, input: { ...(input as JsonObject), ...operation.fixedValues } };
  },
  answer(response, { operation }) {
    const text = JSON.stringify(response);
    const content = { operation: String(operation), response };
    if (text.length <= MAX_RESPONSE_CHARACTERS) return { text, content };
    const short = operation === getCatalogueModel.name && shortenModel(response, MAX_RESPONSE_CHARACTERS);
    if (!short)
      throw new Fault("payload_too_large", { max_bytes: MAX_RESPONSE_CHARACTERS, reason: "response", hint: "limit" });
    const { omitted } = short;
    const shorter = { omitted, ...short.response };
    return { text: JSON.stringify(shorter), content: { ...content, response: shorter } };
  },
};
