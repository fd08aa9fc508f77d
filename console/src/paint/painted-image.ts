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
  const images = outputs.flatMap(({ media_type, url, width, height }, outputIndex) =>
    media_type.startsWith("image/") && width && height ? [{ url, width, height, outputIndex }] : [],
  );
  const found = images.find(({ outputIndex }) => outputIndex === (chosen ?? 0)) ?? images[0];
  if (!found) return undefined;
  const { url, width, height, outputIndex } = found;
  const alt = typeof inputs.prompt === "string" ? inputs.prompt : text.run.noPrompt;
  return { runId: run_id, outputIndex, url, alt, width, height };
}
