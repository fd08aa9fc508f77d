// Words for tests of how files are read: why one is damaged, and what is left of one that is not.
import { type ImageStructure, stripMetadata } from "../../src/files/formats/image-structure.ts";

/** The error of a reader that rejects the file; "nothing" if it accepts the file. */
export const rejectionReason = (work: () => unknown): unknown => {
  try {
    work();
    return "nothing";
  } catch (thrown) {
    const { code, details } = thrown as { code: string; details: { reason: string } };
    return code === "image_undecodable" ? details.reason : thrown;
  }
};

/** The least that passes for a colour profile. */
export const minimalIccProfile = (size: number) => {
  const profile = Buffer.alloc(size);
  profile.writeUInt32BE(size, 0);
  profile.write("acsp", 36, "latin1");
  return profile;
};

export const strippedBytes = (bytes: Buffer, read: (bytes: Uint8Array) => ImageStructure) =>
  Buffer.from(stripMetadata(bytes, read(bytes)));
