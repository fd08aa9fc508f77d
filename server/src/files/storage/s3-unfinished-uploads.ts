// Removes what a crash during a large upload leaves in a bucket: invisible parts, which still cost money, and temporary
// objects. A bucket that the operator created has no lifecycle rule for them.
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
} from "@aws-sdk/client-s3";
import { TEMPORARY_PREFIX } from "./object-storage.ts";
import { type S3Bucket, s3ErrorStatus, withTimeout } from "./s3-client.ts";

const prefix = `${TEMPORARY_PREFIX}/`;

/** Large objects are uploaded to a temporary key, and copied in parts to the key of an asset. */
const OWN_UPLOADS = [
  { prefix, isOwn: (key: string) => key.startsWith(prefix) },
  { prefix: "t/", isOwn: (key: string) => /^t\/[^/]+\/r\/[^/]+\/[0-9a-f]{64}$/.test(key) },
];

/** Only uploads to keys that the server generates: other programs may upload to the same bucket. */
export const abortUnfinishedUploads = async (bucket: S3Bucket, before: Date): Promise<number> => {
  let count = 0;
  for (const own of OWN_UPLOADS) count += await abortUploads(bucket, own, before);
  return count;
};

const abortUploads = async (
  { client, name, clock }: S3Bucket,
  { prefix: Prefix, isOwn }: (typeof OWN_UPLOADS)[number],
  before: Date,
): Promise<number> => {
  let count = 0;
  let page: Partial<ListMultipartUploadsCommandOutput> = {};
  do {
    const from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    const command = new ListMultipartUploadsCommand({ Bucket: name, Prefix, ...from });
    page = await withTimeout(clock, (limit) => client.send(command, limit));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Key || !isOwn(Key) || !Initiated || Initiated >= before) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: name, Key, UploadId });
      await withTimeout(clock, (limit) => client.send(abort, limit)).catch(unlessGone);
      count++;
    }
  } while (page.IsTruncated);
  return count;
};

export const deleteTemporaryObjects = async ({ client, name, clock }: S3Bucket, before: Date): Promise<number> => {
  let count = 0;
  let ContinuationToken: string | undefined;
  do {
    const list = new ListObjectsV2Command({ Bucket: name, Prefix: prefix, ContinuationToken });
    const page = await withTimeout(clock, (limit) => client.send(list, limit));
    for (const { Key, LastModified } of page.Contents ?? []) {
      if (!LastModified || LastModified >= before) continue;
      await withTimeout(clock, (limit) => client.send(new DeleteObjectCommand({ Bucket: name, Key }), limit));
      count++;
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
  return count;
};

const unlessGone = (thrown: unknown): void => {
  if (s3ErrorStatus(thrown) !== 404) throw thrown;
};
