// Copies an object within a bucket. A large one is copied in parts: one request may copy at most 5 GiB, and has to end
// within its timeout. The copy appears under its key as a whole or not at all.
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import type { StoredObject } from "./object-storage.ts";
import { type S3Bucket, withTimeout } from "./s3-client.ts";

/** A server copies this much in seconds. */
const PART_BYTES = 512 * 1024 * 1024;

type Bucket = Pick<S3Bucket, "client" | "name" | "clock">;
type ObjectCopy = { from: string; to: Pick<StoredObject, "key" | "size_bytes">; mediaType: string };

export async function copyObject(bucket: Bucket, copy: ObjectCopy, partBytes = PART_BYTES): Promise<void> {
  const { client, name, clock } = bucket;
  if (copy.to.size_bytes > partBytes) return copyInParts(bucket, copy, partBytes);
  const command = new CopyObjectCommand({ Bucket: name, Key: copy.to.key, CopySource: `${name}/${copy.from}` });
  await withTimeout(clock, (limit) => client.send(command, limit));
}

async function copyInParts({ client, name, clock }: Bucket, { from, to, mediaType }: ObjectCopy, partBytes: number) {
  const target = { Bucket: name, Key: to.key };
  const create = new CreateMultipartUploadCommand({ ...target, ContentType: mediaType });
  const { UploadId } = await withTimeout(clock, (limit) => client.send(create, limit));
  try {
    const Parts: CompletedPart[] = [];
    for (let start = 0; start < to.size_bytes; start += partBytes) {
      const PartNumber = Parts.length + 1;
      const CopySourceRange = `bytes=${start}-${Math.min(start + partBytes, to.size_bytes) - 1}`;
      const part = { ...target, UploadId, PartNumber, CopySource: `${name}/${from}`, CopySourceRange };
      const { CopyPartResult } = await withTimeout(clock, (limit) =>
        client.send(new UploadPartCopyCommand(part), limit),
      );
      Parts.push({ PartNumber, ETag: CopyPartResult?.ETag });
    }
    const complete = new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } });
    await withTimeout(clock, (limit) => client.send(complete, limit));
  } catch (thrown) {
    const abort = new AbortMultipartUploadCommand({ ...target, UploadId });
    // What an abort that fails leaves is removed with the other unfinished uploads.
    await withTimeout(clock, (limit) => client.send(abort, limit)).catch(() => undefined);
    throw thrown;
  }
}
