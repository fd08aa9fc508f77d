// Declares tools that create a run. All of them can limit and confirm what the run costs.
import { z } from "zod";
import type { Operation } from "../../contract/operation.ts";
import { generateImage } from "../../operations/images/generate.ts";
import { RUN_ANSWER_SCHEMA } from "./run-answer.ts";
import { argumentsSchema, CREATES, fieldOf, type Tool, type ToolFields } from "./tool.ts";

/** The only field that no operation has: it belongs to the question that a tool asks. */
export const confirmCost = z
  .number()
  .min(0)
  .max(1_000_000)
  .optional()
  .describe("Cost in US dollars that the user has agreed to. Send it only after asking the user");

const COST_FIELDS = { max_cost: fieldOf(generateImage, "max_cost"), confirm_cost: confirmCost };

type RunToolDeclaration = Pick<Tool, "name" | "title" | "description" | "translate"> & {
  fields: ToolFields;
  required?: string[];
};

export const defineRunTool = ({ fields, required = [], ...declared }: RunToolDeclaration): Tool => ({
  ...declared,
  annotations: CREATES,
  inputSchema: argumentsSchema({ ...fields, ...COST_FIELDS }, required),
  outputSchema: RUN_ANSWER_SCHEMA,
});

/** The models of a tool whose operation depends on the model. The first that an installation offers is the default. */
export const modelField = (models: Record<string, Operation>, description: string) =>
  z.enum(Object.keys(models)).optional().describe(`${description}. Default: the first that this server offers`);
