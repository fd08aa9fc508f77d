// Creates the storage from the settings. Incomplete settings fail at start, not at the first image.
import { z } from "zod";
import type { Clock } from "../../runtime/clock.ts";
import { createDiskStorage } from "./disk-storage.ts";
import type { ObjectStorage } from "./object-storage.ts";
import { createS3Storage } from "./s3-storage.ts";

export const StorageEnv = z.object({
  STORAGE: z
    .enum(["disk", "s3"])
    .default("disk")
    .describe("Storage of images and videos: a directory (disk) or an S3 bucket (s3)."),
  STORAGE_DIR: z.string().min(1).default(".gesso/storage").describe("Directory for STORAGE=disk."),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("URL of the S3 server. Default: Amazon S3."),
  S3_REGION: z.string().min(1).default("us-east-1").describe("Region of the bucket. Most other S3 servers ignore it."),
  S3_BUCKET: z.string().min(1).optional().describe("Name of the bucket for STORAGE=s3."),
  S3_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe("Access key ID for the S3 server. Default, without both keys: the IAM role of the machine or pod."),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe("Secret access key for the S3 server."),
  S3_FORCE_PATH_STYLE: z
    .stringbool()
    .optional()
    .describe("Whether the bucket is in the path instead of the host name. Default: true if S3_ENDPOINT is set."),
});

export type StorageEnv = z.infer<typeof StorageEnv>;

/** `ensureBucket` exists for S3 storage. A bucket is created only by an explicit call. */
export const createStorage = (
  env: StorageEnv,
  clock: Pick<Clock, "sleep" | "after">,
): ObjectStorage & { ensureBucket?: () => Promise<void> } => {
  if (env.STORAGE === "disk") return createDiskStorage(env.STORAGE_DIR);
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!bucket || !accessKeyId !== !secretAccessKey) {
    throw new Error(
      "STORAGE is s3, which needs S3_BUCKET, and both or none of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.",
    );
  }
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  const forcePathStyle = env.S3_FORCE_PATH_STYLE ?? env.S3_ENDPOINT !== undefined;
  const { S3_ENDPOINT: endpoint, S3_REGION: region } = env;
  return createS3Storage({ endpoint, region, bucket, credentials, forcePathStyle, clock });
};
