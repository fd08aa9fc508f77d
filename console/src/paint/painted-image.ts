// The image of a run that is painted on. A run can have several; its first image is the default.
import type { Run } from "@gesso/client";
import { text } from "../text/text.ts";

export type PaintedImage = {
  runId: string;
  /** Index among all outputs of the run, as the API counts them. */
  outputIndex: number;
  url: string;
  alt: string;
  width: number;
  height: number;
};

export function findPaintedImage(
  { run_id, outputs, inputs }: Run,
  chosen: number | undefined,
): PaintedImage | undefined {
  const images = outputs
    .map((output, outputIndex) => ({ output, outputIndex }))
    .filter(({ output }) => output.media_type.startsWith("image/") && output.width > 0 && output.height > 0);
  const found = images.find(({ outputIndex }) => outputIndex === (chosen ?? 0)) ?? images[0];
  if (!found) return undefined;
  const { url, width, height } = found.output;
  const alt = typeof inputs.prompt === "string" ? inputs.prompt : text.run.noPrompt;
  return { runId: run_id, outputIndex: found.outputIndex, url, alt, width, height };
}
