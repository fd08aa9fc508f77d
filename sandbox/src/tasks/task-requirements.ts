// The terms that many tasks share: which parts of a request must be there, and options that must be of their kind.
import type { z } from "zod";
import type { JobRequest, StoredRequest } from "../request.ts";
import type { Size } from "../size.ts";
import type { TaskOutput, TaskResult } from "./task.ts";

type TaskRequirements = { prompt?: boolean; image?: boolean; options?: z.ZodType };

/** What is missing or of the wrong kind. Options that a task does not know are let pass, as most vendors do. */
export const findRequestProblem = (request: JobRequest, needs: TaskRequirements): string | undefined => {
  if (needs.prompt && request.prompt === undefined) return "prompt: is required";
  if (needs.image && request.images.length === 0) return "images: one is required";
  const checked = needs.options?.safeParse(request.options ?? {});
  if (!checked || checked.success) return undefined;
  return checked.error.issues.map((issue) => `options.${issue.path.join(".")}: ${issue.message}`).join("; ");
};

export const parseOptions = <Schema extends z.ZodType>(schema: Schema, request: StoredRequest): z.infer<Schema> =>
  schema.parse(request.options ?? {});

export const pngOutput = (size: Size): TaskOutput => ({
  media_type: "image/png",
  extension: "png",
  width: size.width,
  height: size.height,
});

/** As many images of one size as were asked for. */
export const imageOutputs = (request: StoredRequest, size: Size, data: TaskResult["data"] = null): TaskResult => ({
  outputs: Array.from({ length: request.count }, () => pngOutput(size)),
  data,
});

export const noFileOutputs = async (): Promise<Buffer> => {
  throw new Error("this task makes no files");
};
