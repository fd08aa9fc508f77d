// Reads the boxes of an MP4 and appends the mark as a box. Nothing before it moves, so the offsets of the media data
// stay right.
import type { FileParts } from "./file-parts.ts";
import { BOX_HEADER_BYTES, createMp4Scanner, UUID_BYTES, XMP_UUID } from "./mp4-scanner.ts";

export function readMp4Parts(bytes: Uint8Array): FileParts {
  const scanner = createMp4Scanner();
  scanner.push(bytes);
  const { manifest, xmp, cut, openEnded } = scanner.finish();
  return {
    manifest,
    xmp,
    cut,
    insert: (packet) => {
      const file = Buffer.concat([bytes, buildXmpBox(packet)]);
      // The last box reached to the end of the file; now another one follows.
      if (openEnded !== undefined) file.writeUInt32BE(bytes.byteLength - openEnded, openEnded);
      return file;
    },
  };
}

/** The box that holds an XMP packet. */
export function buildXmpBox(packet: string): Buffer {
  const content = Buffer.from(packet, "utf8");
  const head = Buffer.alloc(BOX_HEADER_BYTES);
  head.writeUInt32BE(BOX_HEADER_BYTES + UUID_BYTES + content.byteLength, 0);
  head.write("uuid", 4, "latin1");
  return Buffer.concat([head, Buffer.from(XMP_UUID, "hex"), content]);
}
