// S3 client with timeouts and retries. Uses only features that other S3-compatible servers support.
import {
  CreateBucketCommand,
  HeadBucketCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { Clock } from "../../runtime/clock.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { TEMPORARY_PREFIX } from "./object-storage.ts";

export type S3Options = {
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  /** Undefined: those of the machine, container or pod, such as an IAM role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  forcePathStyle: boolean;
  clock?: Pick<Clock, "sleep" | "after">;
};

export type S3Bucket = { client: S3Client; name: string; region: string; clock: Pick<Clock, "sleep" | "after"> };

const connectMilliseconds = 3_000;
const totalMilliseconds = 60_000;
/** Waiting for a free socket counts as connecting, so the limit must exceed the number of concurrent requests. */
const mostSockets = 256;

export const createS3Bucket = ({ bucket, credentials, clock = systemClock, ...options }: S3Options): S3Bucket => {
  const client = new S3Client({
    region: options.region,
    ...(options.endpoint && { endpoint: options.endpoint }),
    forcePathStyle: options.forcePathStyle,
    ...(credentials && { credentials }),
    maxAttempts: 5,
    // By default the SDK sends a checksum trailer, which older servers refuse (radosgw 16: MissingContentLength).
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: connectMilliseconds,
      socketTimeout: totalMilliseconds,
      httpAgent: { maxSockets: mostSockets },
      httpsAgent: { maxSockets: mostSockets },
    },
  });
  return { client, name: bucket, region: options.region, clock };
};

/** Limits a request with all its retries, up to the response headers. Reading the body has no limit here. */
export const withTimeout = async <T>(
  clock: Pick<Clock, "after">,
  send: (limit: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> => {
  const control = new AbortController();
  const timer = clock.after(totalMilliseconds, () => control.abort(new Error("S3 did not respond in time")));
  try {
    return await send({ abortSignal: control.signal });
  } finally {
    timer.stop();
  }
};

export const s3ErrorStatus = (thrown: unknown): number | undefined =>
  (thrown as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;

/** Creates the bucket if it does not exist. An existing bucket is not changed. */
export const ensureBucket = async ({ client, name, region, clock }: S3Bucket): Promise<void> => {
  const missing = await withTimeout(clock, (limit) => client.send(new HeadBucketCommand({ Bucket: name }), limit)).then(
    () => false,
    (thrown) => {
      if (s3ErrorStatus(thrown) !== 404) throw thrown;
      return true;
    },
  );
  if (!missing) return;
  // Amazon requires the region, except for us-east-1, where it is an error.
  const place = region === "us-east-1" ? {} : { CreateBucketConfiguration: { LocationConstraint: region as never } };
  await withTimeout(clock, (limit) => client.send(new CreateBucketCommand({ Bucket: name, ...place }), limit)).catch(
    (thrown) => {
      // Two servers that start at the same time both find no bucket; the second gets this error, which is harmless.
      if (thrown.name !== "BucketAlreadyOwnedByYou") throw thrown;
    },
  );
  await withTimeout(clock, (limit) =>
    client.send(new PutBucketLifecycleConfigurationCommand(unfinishedUploadLifecycle(name)), limit),
  );
};

/** A crash during an upload leaves parts or a temporary object. The bucket removes them after a day. */
const unfinishedUploadLifecycle = (Bucket: string) => ({
  Bucket,
  LifecycleConfiguration: {
    Rules: [
      {
        ID: "forget-unfinished",
        Status: "Enabled" as const,
        Filter: { Prefix: `${TEMPORARY_PREFIX}/` },
        Expiration: { Days: 1 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      },
    ],
  },
});
