// Reads the input files of a job. Encoded files are small compared to their pixels, so all of them are read at once.
import type { Job } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Asset } from "../provider.ts";

type LocalFiles = {
  images: Uint8Array[];
  mask: Uint8Array | undefined;
  masks: Uint8Array[];
  options: JsonObject;
};

export const readInputs = async (job: Job<Asset>): Promise<LocalFiles> => {
  const [images, masks, mask] = await Promise.all([
    readAll(job.images),
    readAll(job.masks),
    job.mask ? job.mask.bytes() : undefined,
  ]);
  return { images, masks, mask, options: job.options ?? {} };
};

const readAll = (assets: Asset[] = []) => Promise.all(assets.map((asset) => asset.bytes()));
