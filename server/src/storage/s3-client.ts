// How we speak with an S3 server: within limits of time and tries, and in the plain dialect that servers other than
// Amazon's understand too.
import {
  CreateBucketCommand,
  HeadBucketCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { TEMPORARY_PREFIX } from "./object-storage.ts";

export type S3Options = {
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
};

export type S3Bucket = { client: S3Client; name: string; region: string };

const connectMilliseconds = 3_000;
const totalMilliseconds = 60_000;
/** Waiting for a free socket counts as connecting, so there must be more of them than we ever use at once. */
const mostSockets = 256;

export const createS3Bucket = ({ bucket, accessKeyId, secretAccessKey, ...options }: S3Options): S3Bucket => {
  const client = new S3Client({
    region: options.region,
    ...(options.endpoint && { endpoint: options.endpoint }),
    forcePathStyle: options.forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 5,
    // The default sends a checksum as a trailer, which older servers of others refuse (radosgw 16: MissingContentLength).
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: connectMilliseconds,
      socketTimeout: totalMilliseconds,
      httpAgent: { maxSockets: mostSockets },
      httpsAgent: { maxSockets: mostSockets },
    },
  });
  return { client, name: bucket, region: options.region };
};

/** Limits one request, tries and pauses included, up to its answer; a body may then take as long as its reader does. */
export const withTimeout = async <T>(send: (limit: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> => {
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(new Error("S3 did not answer in time")), totalMilliseconds);
  try {
    return await send({ abortSignal: control.signal });
  } finally {
    clearTimeout(timer);
  }
};

export const s3ErrorStatus = (thrown: unknown): number | undefined =>
  (thrown as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;

/** Makes the bucket where there is none. One that exists is the operator's and is left exactly as it is. */
export const ensureBucket = async ({ client, name, region }: S3Bucket): Promise<void> => {
  const missing = await withTimeout((limit) => client.send(new HeadBucketCommand({ Bucket: name }), limit)).then(
    () => false,
    (thrown) => {
      if (s3ErrorStatus(thrown) !== 404) throw thrown;
      return true;
    },
  );
  if (!missing) return;
  // Amazon wants the region named, except in its first one, where naming it is an error.
  const place = region === "us-east-1" ? {} : { CreateBucketConfiguration: { LocationConstraint: region as never } };
  await withTimeout((limit) => client.send(new CreateBucketCommand({ Bucket: name, ...place }), limit)).catch(
    (thrown) => {
      // Two servers that start together both find it missing; the second to ask learns that it is ours already.
      if (thrown.name !== "BucketAlreadyOwnedByYou") throw thrown;
    },
  );
  await withTimeout((limit) =>
    client.send(new PutBucketLifecycleConfigurationCommand(unfinishedUploadLifecycle(name)), limit),
  );
};

/** A crash in the middle of a stream leaves parts or a temporary object; the bucket forgets them after a day. */
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
