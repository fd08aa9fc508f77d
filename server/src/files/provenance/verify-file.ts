// Verifies any file: reads its container, has the manifest validated in an isolated process, and says in one word what
// is wrong. Nothing of the file is trusted; a file that cannot be read is a result, not an error.

import type { ProvenanceReport, ProvenanceResult } from "../../contract/schemas/provenance.ts";
import { Fault } from "../../faults/faults.ts";
import { detectType, isIsoMedia } from "../formats/detect-type.ts";
import type { FileParts } from "../formats/file-parts.ts";
import { judgeCodes } from "./judge-codes.ts";
import { UnreadableManifest } from "./manifest-processes.ts";
import { readAvailableParts, readMark } from "./mark-file.ts";
import { type ManifestReport, readReport } from "./read-report.ts";
import { sha256 } from "./sha256.ts";
import { CREATOR_TOOL_NAME, type ReadMark } from "./xmp-packet.ts";

/** The verdict on a file. Run and match are looked up by the caller. */
export type FileVerdict = Omit<ProvenanceReport, "run" | "match">;

type ReadManifests = (bytes: Uint8Array, mediaType: string) => Promise<string>;

export async function verifyFile(read: ReadManifests, bytes: Uint8Array): Promise<FileVerdict> {
  const media_type = detectMediaType(bytes);
  if (!media_type) throw new Fault("unsupported_image_format", { accepted: ["PNG", "JPEG", "WebP", "MP4"] });
  const parts = readAvailableParts(bytes, media_type);
  const mark = readMark(parts);
  const { result, report } = await judge(read, { bytes, media_type, parts, mark });
  const manifests = report?.manifests ?? [];
  const { signer = null, actions = [] } = manifests[0] ?? {};
  return {
    result,
    message: MESSAGES[result],
    media_type,
    signer,
    manifest_hash: parts?.manifest ? sha256(parts.manifest) : null,
    digital_source_type:
      actions.findLast((each) => each.digital_source_type)?.digital_source_type ?? mark?.digital_source_type ?? null,
    mark: mark ?? null,
    codes: report?.codes ?? [],
    manifests,
  };
}

type ReadFile = { bytes: Uint8Array; media_type: string; parts: FileParts | undefined; mark: ReadMark | undefined };
type Judgement = { result: ProvenanceResult; report?: ManifestReport };

async function judge(read: ReadManifests, { bytes, media_type, parts, mark }: ReadFile): Promise<Judgement> {
  if (!parts) return { result: "unreadable" };
  if (parts.cut && !parts.manifest) return { result: "file_cut" };
  if (!parts.manifest) return { result: "no_manifest" };
  try {
    const report = readReport(await read(bytes, media_type));
    if (!report) return { result: parts.cut ? "file_cut" : "manifest_changed" };
    if (parts.cut) return { result: "file_cut", report };
    return { result: judgeReport(report, mark), report };
  } catch (thrown) {
    if (!(thrown instanceof UnreadableManifest)) throw thrown;
    if (parts.cut) return { result: "file_cut" };
    return { result: /InvalidAsset|PngError|JpegError/.test(thrown.message) ? "unreadable" : "manifest_changed" };
  }
}

function judgeReport({ codes, isTrusted, manifests }: ManifestReport, mark: ReadMark | undefined): ProvenanceResult {
  const result = judgeCodes(codes);
  // The hashes do not tell a changed file from the manifest of another file. The mark is in the content that was
  // signed: if it names another asset than the manifest, the manifest came from elsewhere.
  const isOwnMark = mark?.creator_tool?.startsWith(CREATOR_TOOL_NAME) === true && mark.asset_id !== null;
  if (result === "content_changed" && isOwnMark && mark.asset_id !== manifests[0]?.asset_id) return "manifest_swapped";
  return result ?? (isTrusted ? "intact" : "untrusted_signer");
}

const MESSAGES: Record<ProvenanceResult, string> = {
  intact: "The file is unchanged since a trusted signer signed it.",
  content_changed: "The content is not the content that was signed.",
  manifest_changed: "The manifest was changed after it was signed, or cannot be read.",
  manifest_swapped: "The manifest belongs to another file.",
  file_cut: "The file ends too early: a part is missing.",
  untrusted_signer: "The file is unchanged since it was signed, but its signer is not trusted.",
  certificate_expired: "The file is unchanged since it was signed, but the certificate of its signer has expired.",
  no_manifest: "The file has no C2PA manifest.",
  unreadable: "The file is damaged and cannot be read.",
};

/** Undefined for formats that cannot have a manifest here. QuickTime and HEIC files keep theirs where MP4 files do. */
const detectMediaType = (bytes: Uint8Array): string | undefined =>
  detectType(bytes) ?? (isIsoMedia(bytes) ? "video/mp4" : undefined);
