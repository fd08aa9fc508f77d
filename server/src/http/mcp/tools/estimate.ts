// Translates estimate to runs.estimate, for tools and for operations.
import { Estimate } from "../../../contract/schemas/library.ts";
import type { JsonObject } from "../../../contract/schemas/run.ts";
import { estimateRun } from "../../../operations/runs/estimate.ts";
import { dollars } from "../run-answer.ts";
import { argumentsSchema, contentSchema, fieldOf, type IsOffered, READS, type Tool } from "../tool.ts";
import { RUN_TOOLS } from "./run-tools.ts";

/** A tool's arguments as the input of its operation. Other names are those of operations. */
function toOperation(name: unknown, input: unknown, isOffered: IsOffered): JsonObject {
  const tool = RUN_TOOLS.find((each) => each.name === name);
  if (!tool?.translate || input === null || typeof input !== "object") return { operation: name, input };
  const { confirm_cost: _confirmed, ...args } = input as JsonObject;
  const request = tool.translate(args, isOffered);
  return { operation: request.operation.name, input: request.input };
}

export const estimateTool: Tool = {
  name: "estimate",
  title: "Estimate the cost",
  description: "Estimate what a call would cost, without creating a run.",
  annotations: READS,
  inputSchema: argumentsSchema({
    operation: fieldOf(estimateRun, "operation").describe("Name of a tool or an operation, such as make_image"),
    input: fieldOf(estimateRun, "input").describe("Arguments of the tool, or input of the operation"),
  }),
  outputSchema: contentSchema(Estimate),
  translate: ({ operation, input }, isOffered) => ({
    operation: estimateRun,
    input: toOperation(operation, input, isOffered),
  }),
  answer(response) {
    const { amount, basis } = response as unknown as Estimate;
    const items = basis.map(({ what, quantity, unit_price }) => {
      const price = unit_price === null ? "price unknown" : dollars(unit_price);
      return `${what}: ${quantity} x ${price}`;
    });
    const sum = amount === null ? "The cost is not known." : `The call would cost ${dollars(amount)}.`;
    return { text: `${sum} ${items.join("; ")}`, content: response };
  },
};
