// What a crash in the middle of a large upload leaves in a bucket: parts that nobody sees and everybody pays for, and
// objects under temporary names. A bucket that the operator made has no rule that forgets them, so we do.
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

/** Only ours: another program may be uploading to the same bucket under other names. */
export const abortUnfinishedUploads = async ({ client, name }: S3Bucket, before: Date): Promise<number> => {
  let count = 0;
  let page: Partial<ListMultipartUploadsCommandOutput> = {};
  do {
    const from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    const command = new ListMultipartUploadsCommand({ Bucket: name, Prefix: prefix, ...from });
    page = await withTimeout((limit) => client.send(command, limit));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Key?.startsWith(prefix) || !Initiated || Initiated >= before) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: name, Key, UploadId });
      await withTimeout((limit) => client.send(abort, limit)).catch(unlessGone);
      count++;
    }
  } while (page.IsTruncated);
  return count;
};

export const deleteTemporaryObjects = async ({ client, name }: S3Bucket, before: Date): Promise<number> => {
  let count = 0;
  let ContinuationToken: string | undefined;
  do {
    const list = new ListObjectsV2Command({ Bucket: name, Prefix: prefix, ContinuationToken });
    const page = await withTimeout((limit) => client.send(list, limit));
    for (const { Key, LastModified } of page.Contents ?? []) {
      if (!LastModified || LastModified >= before) continue;
      await withTimeout((limit) => client.send(new DeleteObjectCommand({ Bucket: name, Key }), limit));
      count++;
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
  return count;
};

const unlessGone = (thrown: unknown): void => {
  if (s3ErrorStatus(thrown) !== 404) throw thrown;
};
