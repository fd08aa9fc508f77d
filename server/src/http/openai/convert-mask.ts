// Converts the mask of an OpenAI client, whose transparent pixels mark the area to edit, to a mask of Gesso, where
// white marks it. The pixels are decoded in an isolated process.

import { readFile } from "node:fs/promises";
import { isFilePart } from "../../contract/files.ts";
import { decodeInlineImage } from "../../contract/image-fields.ts";
import { Fault } from "../../faults/faults.ts";
import type { StagingDependencies } from "../../runs/sources/stage-inline-files.ts";
import { type ClientImage, issueAt } from "./client-body.ts";

/** Returns the mask as a data URL. */
export async function convertMask(
  { runs: { images, fileTurns } }: { runs: Pick<StagingDependencies, "images" | "fileTurns"> },
  tenantId: string,
  mask: ClientImage,
): Promise<string> {
  const convert = async () => {
    const bytes = isFilePart(mask) ? await readFile(mask.path) : decodeInlineImage(mask);
    if (!bytes) throw invalidMask("invalid_type", "Must be a file or a data URL of a PNG or WebP image.");
    return images.maskFromTransparency(bytes).catch((thrown) => {
      // A client must see that the mask is meant, and not the image.
      throw thrown instanceof Fault && thrown.status < 500 ? invalidMask(thrown.code, thrown.message) : thrown;
    });
  };
  const converted = await fileTurns.take(tenantId, isFilePart(mask) ? mask.size_bytes : mask.length, convert);
  if (!converted) throw invalidMask("invalid_value", "Has no transparent pixels. They mark the area to edit.");
  return `data:image/png;base64,${Buffer.from(converted).toString("base64")}`;
}

const invalidMask = (code: string, message: string) =>
  new Fault("validation_error", { errors: [issueAt("mask", code, message)] });
