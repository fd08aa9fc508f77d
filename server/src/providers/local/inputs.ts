// Reads the input files of a job. Encoded files are small compared to their pixels, so all of them are read at once.
import type { Job } from "../../kit/operation.ts";
import type { Asset } from "../provider.ts";
import type { LocalTaskInputs } from "./local-task.ts";

export const readInputs = async (job: Job<Asset>): Promise<LocalTaskInputs> => {
  const [images, masks, mask] = await Promise.all([
    readAll(job.images),
    readAll(job.masks),
    job.mask ? job.mask.bytes() : undefined,
  ]);
  return { images, masks, mask, options: job.options ?? {} };
};

const readAll = (assets: Asset[] = []) => Promise.all(assets.map((asset) => asset.bytes()));
