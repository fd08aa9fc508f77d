// Marks a video while it is streamed into the storage. The result is the file that `mark` makes of the whole video, so
// a video has the same bytes whichever way it takes.
import { UnreadableFile } from "../formats/file-parts.ts";
import { buildXmpBox, createMp4Scanner, type ScannedMp4 } from "../formats/mp4.ts";
import { sha256 } from "./sha256.ts";
import { buildXmpPacket, type FileMark, readXmpMark } from "./xmp-packet.ts";

/** The provenance of a file that is not signed. */
type MarkedProvenance = { status: "received" | "marked"; digital_source_type: string; manifest_hash?: string };

export type MarkedStream = {
  chunks: AsyncGenerator<Uint8Array, void, undefined>;
  /** Available after the last chunk. Undefined if the video could not be marked. */
  provenance(): MarkedProvenance | undefined;
};

export function markVideoStream(stream: AsyncIterable<Uint8Array>, mark: FileMark): MarkedStream {
  let provenance: MarkedProvenance | undefined;
  const pass = async function* () {
    const scanner = createVideoScanner();
    for await (const chunk of stream) {
      scanner.push(chunk);
      yield chunk;
    }
    const { state, appended, manifest_hash } = decideMark(scanner.finish(), mark);
    if (appended) yield appended;
    if (state !== "unmarked")
      provenance = {
        status: state,
        digital_source_type: mark.digitalSourceType,
        ...(manifest_hash && { manifest_hash }),
      };
  };
  return { chunks: pass(), provenance: () => provenance };
}

type MarkDecision = { state: "received" | "marked" | "unmarked"; appended?: Uint8Array; manifest_hash?: string };

function decideMark(scanned: ScannedMp4 | undefined, mark: FileMark): MarkDecision {
  if (!scanned || scanned.cut === "headers") return { state: "unmarked" };
  const { manifest, xmp, openEnded } = scanned;
  // Any change would invalidate the manifest of the provider, which says more than a mark.
  if (manifest) return { state: "received", manifest_hash: sha256(manifest) };
  if (xmp && readXmpMark(xmp)) return { state: "marked" };
  // A last box without a size reaches to the end of the file. Its header has passed, so nothing can be appended.
  if (openEnded !== undefined) return { state: "unmarked" };
  return { state: "marked", appended: buildXmpBox(buildXmpPacket(mark)) };
}

/** A file whose boxes cannot be read passes unmarked. */
function createVideoScanner() {
  const scanner = createMp4Scanner();
  let isReadable = true;
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return isReadable ? work() : undefined;
    } catch (thrown) {
      if (!(thrown instanceof UnreadableFile)) throw thrown;
      isReadable = false;
      return undefined;
    }
  };
  return {
    push: (chunk: Uint8Array) => attempt(() => scanner.push(chunk)),
    finish: () => attempt(() => scanner.finish()),
  };
}
