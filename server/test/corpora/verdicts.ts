// Words for tests of how files are read: why one is damaged, and what is left of one that is not.
import { cleanBytes, type ImageLayout } from "../../src/media/image-layout.ts";

/** What a reader says of a file that it refuses; "nothing" where it takes it. */
export const reasonOf = (work: () => unknown): unknown => {
  try {
    work();
    return "nothing";
  } catch (thrown) {
    const { code, details } = thrown as { code: string; details: { reason: string } };
    return code === "image_undecodable" ? details.reason : thrown;
  }
};

/** The least that passes for a colour profile. */
export const profileOf = (size: number) => {
  const profile = Buffer.alloc(size);
  profile.writeUInt32BE(size, 0);
  profile.write("acsp", 36, "latin1");
  return profile;
};

export const clean = (bytes: Buffer, read: (bytes: Uint8Array) => ImageLayout) =>
  Buffer.from(cleanBytes(bytes, read(bytes)));
