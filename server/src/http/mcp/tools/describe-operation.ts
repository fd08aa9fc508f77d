// Describes the operations of the contract for call_operation.
import { z } from "zod";
import type { Operation } from "../../../contract/operation.ts";
import type { JsonObject } from "../../../contract/schemas/run.ts";
import { Fault } from "../../../faults/faults.ts";
import { findOperation, operations } from "../../../operations/all.ts";
import { getCatalogueModel } from "../../../operations/catalogue/get-model.ts";
import { listCatalogueModels } from "../../../operations/catalogue/list-models.ts";
import { estimateRun } from "../../../operations/runs/estimate.ts";
import { argumentsSchema, contentSchema, fieldOf, READS, type Tool, type ToolAnswer } from "../tool.ts";
import { describeObstacle } from "./call-operation.ts";

const OperationSummary = z.object({ name: z.string(), summary: z.string() });
const OperationAnswer = z.object({
  operations: z.array(OperationSummary).optional(),
  name: z.string().optional(),
  summary: z.string().optional(),
  input_schema: z.record(z.string(), z.unknown()).optional(),
  rules: z.array(z.string()).optional(),
  example: z.record(z.string(), z.unknown()).optional(),
});

/** Operations that the credential cannot reach through MCP would only tempt the model. */
function listOperations(mayCall: (operation: Operation) => boolean): ToolAnswer {
  const callable = operations.filter((operation) => describeObstacle(operation) === undefined && mayCall(operation));
  const summaries = callable.map(({ name, summary }) => ({ name, summary }));
  return {
    text: summaries.map(({ name, summary }) => `${name}: ${summary}`).join("\n"),
    content: { operations: summaries },
  };
}

/** The schema of such an operation does not tell what the model takes. */
const MODEL_RULE =
  `What \`input\` contains depends on the model. Call ${listCatalogueModels.name} to find a model, and ` +
  `${getCatalogueModel.name} for the schema of its input, where it has files, and an example.`;

function describe({ name, summary, input, rules = [], example, usesImportedModel }: Operation): ToolAnswer {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as JsonObject;
  const described = {
    ...{ name, summary, input_schema: schema, example },
    rules: [...rules.map(({ description }) => description), ...(usesImportedModel ? [MODEL_RULE] : [])],
  };
  return { text: JSON.stringify(described), content: described };
}

export const describeOperationTool: Tool = {
  name: "describe_operation",
  title: "Describe operations of the API",
  description: "List all operations of the Gesso API, or show the input of one, for call_operation.",
  annotations: READS,
  inputSchema: argumentsSchema({
    operation: fieldOf(estimateRun, "operation")
      .optional()
      .describe("Name of the operation. Without it, the tool lists all operations"),
  }),
  outputSchema: contentSchema(OperationAnswer),
  describe({ operation: name }, mayCall) {
    if (name === undefined) return listOperations(mayCall);
    const operation = findOperation(String(name));
    if (operation) return describe(operation);
    throw new Fault("validation_error", {
      errors: [{ path: "/operation", code: "unknown_value", message: "There is no operation with this name." }],
    });
  },
};
