// Which file of a run is a source: the index of the output and, for a video, the frame. Every field that takes a run ID
// is declared here or in `image-fields.ts`, together with these two, so that no operation declares them itself.
import { z } from "zod";
import { runId } from "./fields.ts";

/** A run has fewer outputs than this, whatever the model. The exact number is checked when the run is known. */
const MAX_OUTPUT_INDEX = 1000;

const FRAMES = ["first", "last"] as const;
export type VideoFrame = (typeof FRAMES)[number];

const outputFields = {
  output_index: z.int().min(0).max(MAX_OUTPUT_INDEX).optional().describe("Which output of the run, from 0. Default: 0"),
  frame: z
    .enum(FRAMES)
    .optional()
    .describe("Use this frame of a video as the image: first or last. Required if the output is a video"),
};
type OutputFields = typeof outputFields;

/** A run ID with the index of its output, for lists and image fields. */
export const RunOutputReference = z
  .strictObject({ run_id: runId("ID of the run"), ...outputFields })
  .describe("An output of a run")
  .meta({ id: "RunOutputReference" });
export type RunOutputReference = z.output<typeof RunOutputReference>;

/** `RunOutputReference` in the schema of a field that accepts text too. */
export const RUN_OUTPUT_SCHEMA = { $ref: "#/$defs/RunOutputReference" };

/** The field for a run whose image is a source, with the fields that select the output. */
export const sourceRun = <Name extends string>(name: Name, description: string) =>
  ({ [name]: runId(description).optional(), ...outputFields }) as Record<Name, z.ZodOptional<z.ZodUUID>> & OutputFields;

/** `sourceRun`, for an operation that has no other source. */
export const requiredSourceRun = <Name extends string>(name: Name, description: string) =>
  ({ [name]: runId(description), ...outputFields }) as Record<Name, z.ZodUUID> & OutputFields;

/** An entry of a list of runs: a run ID, or an output of a run. */
export const runEntry = (description: string) =>
  z
    .union([runId(description), RunOutputReference])
    .describe(description)
    .meta({ anyOf: [{ type: "string", format: "uuid", "x-widget": "run" }, RUN_OUTPUT_SCHEMA] });

/** The output of the run that the caller selected; undefined without a run. */
export const selectedOutput = (
  run_id: string | undefined,
  { output_index, frame }: { output_index?: number | undefined; frame?: VideoFrame | undefined },
): RunOutputReference | undefined => (run_id === undefined ? undefined : { run_id, output_index, frame });
