// The terms that many tasks share: which parts of a request must be there, and options that must be of their kind.
import type { z } from "zod";
import type { JobRequest, KeptRequest } from "../request.ts";
import type { Size } from "../size.ts";
import type { Findings, Output } from "./task.ts";

type Needs = { prompt?: boolean; image?: boolean; options?: z.ZodType };

/** What is missing or of the wrong kind. Options that a task does not know are let pass, as most vendors do. */
export const complaintAbout = (request: JobRequest, needs: Needs): string | undefined => {
  if (needs.prompt && request.prompt === undefined) return "prompt: is required";
  if (needs.image && request.images.length === 0) return "images: one is required";
  const checked = needs.options?.safeParse(request.options ?? {});
  if (!checked || checked.success) return undefined;
  return checked.error.issues.map((issue) => `options.${issue.path.join(".")}: ${issue.message}`).join("; ");
};

export const optionsOf = <Schema extends z.ZodType>(schema: Schema, request: KeptRequest): z.infer<Schema> =>
  schema.parse(request.options ?? {});

export const pngOf = (size: Size): Output => ({
  media_type: "image/png",
  extension: "png",
  width: size.width,
  height: size.height,
});

/** As many pictures of one size as were asked for. */
export const pictures = (request: KeptRequest, size: Size, data: Findings["data"] = null): Findings => ({
  outputs: Array.from({ length: request.count }, () => pngOf(size)),
  data,
});

export const noPictures = async (): Promise<Buffer> => {
  throw new Error("this task makes no files");
};
