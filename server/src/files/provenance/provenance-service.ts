// What runs and the library use of provenance: marks and signs outputs, keeps the manifests of received images, and
// reads the manifest of any file. Signing fails while the signer is unavailable, and never returns an unsigned file.
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import { buildCopyManifest, buildManifest, type CopyKind, type ManifestFacts } from "./build-manifest.ts";
import { splitCertificates, trustAnchorsOf } from "./certificate-chains.ts";
import { createSignerSource, type PostBytes } from "./create-signer.ts";
import { createManifestProcesses, type FileToSign, UnreadableManifest } from "./manifest-processes.ts";
import { markFile, readFileParts } from "./mark-file.ts";
import { type MarkedStream, markVideoStream } from "./mark-video-stream.ts";
import { defaultMode, type ProvenanceMode, type ProvenanceSettings, readSigningChains } from "./settings.ts";
import { sha256 } from "./sha256.ts";
import { type FileVerdict, verifyFile } from "./verify-file.ts";
import type { FileMark } from "./xmp-packet.ts";

/** The provenance of a stored file. `received`: the file has the manifest of the provider, unchanged. */
export type FileProvenance = {
  status: "signed" | "marked" | "received";
  digital_source_type: string;
  /** SHA-256 of the manifest store. */
  manifest_hash?: string;
};

export type ProvenFile = { bytes: Uint8Array; provenance?: FileProvenance };

type OutputFile = { bytes: Uint8Array; received: { bytes: Uint8Array; media_type: string }; mark: FileMark };
type CopiedFile = { run_id: string; asset_id: string; bytes: Uint8Array; media_type: string };
type OriginalFile = { bytes: Uint8Array; media_type: string };

export type ProvenanceService = {
  defaultMode: ProvenanceMode;
  canSign: boolean;
  /** Inserts metadata. Does no I/O. */
  mark(file: OutputFile & { media_type: string }): ProvenFile;
  /** The same for a video that is too large for the memory. */
  markStream(stream: AsyncIterable<Uint8Array>, mark: FileMark): MarkedStream;
  /** Throws `dependency_unavailable` while the signer cannot be reached. */
  sign(file: OutputFile, facts: Omit<ManifestFacts, "received" | "time">, sources: Uint8Array[]): Promise<ProvenFile>;
  /** Signs a received image, with the file as it was received as the ingredient. */
  signSource(source: CopiedFile, received: OriginalFile): Promise<Uint8Array>;
  /** Signs a copy of an output in another format, with the stored output as the ingredient. */
  signCopy(copy: CopiedFile, original: OriginalFile): Promise<Uint8Array>;
  /** The report of the C2PA library. Throws `UnreadableManifest`. */
  read(bytes: Uint8Array, mediaType: string): Promise<string>;
  /** Says who signed a file and whether it is intact. Throws only for a format that is not supported. */
  verify(bytes: Uint8Array): Promise<FileVerdict>;
  /** Ids of the isolated processes. */
  pids(): number[];
  close(): void;
};

type ProvenanceOptions = { clock: Pick<Clock, "now">; postBytes: PostBytes; megabytes: number; seconds: number };

export function createProvenanceService(
  settings: ProvenanceSettings,
  { clock, postBytes, megabytes, seconds }: ProvenanceOptions,
): ProvenanceService {
  const chains = readSigningChains(settings);
  const signers = createSignerSource(settings, chains, postBytes);
  const processes = createManifestProcesses({ count: settings.PROVENANCE_PROCESSES, megabytes, seconds });
  const others = splitCertificates(settings.PROVENANCE_TRUST_ANCHORS ?? "").map(String);
  const trustAnchors = [trustAnchorsOf(chains), ...others].filter(Boolean).join("\n");
  const now = () => new Date(clock.now()).toISOString();
  const sign = async (file: Omit<FileToSign, "signer" | "trustAnchors">): Promise<Uint8Array> => {
    try {
      return await processes.sign({ ...file, signer: findSigner(), trustAnchors });
    } catch (thrown) {
      if (thrown instanceof UnreadableManifest)
        throw new Fault("provider_output_invalid", { reason: "cannot_be_signed" }, { cause: thrown });
      throw thrown;
    }
  };
  const read = (bytes: Uint8Array, media_type: string) => processes.read({ bytes, media_type, trustAnchors });
  const signAs = async (kind: CopyKind, { bytes, media_type, ...ids }: CopiedFile, original: OriginalFile) => {
    const facts = { kind, ...ids, media_type, originalType: original.media_type, time: now() };
    return sign({ bytes, media_type, manifest: buildCopyManifest(facts), ingredientFiles: [original.bytes] });
  };
  const findSigner = () => {
    try {
      if (signers) return signers.find(clock.now());
    } catch (thrown) {
      throw unavailable(thrown);
    }
    throw unavailable("no certificate is configured");
  };

  return {
    defaultMode: defaultMode(settings),
    canSign: signers !== undefined,
    mark({ bytes, received, mark, media_type }) {
      const parts = readFileParts(bytes, media_type);
      const digital_source_type = mark.digitalSourceType;
      // Any change would invalidate the manifest of the provider, which says more than a mark.
      if (parts?.manifest && bytes === received.bytes)
        return {
          bytes,
          provenance: { status: "received", digital_source_type, manifest_hash: sha256(parts.manifest) },
        };
      const marked = markFile(parts, bytes, mark);
      if (marked.state === "unmarked") return { bytes };
      return { bytes: marked.bytes, provenance: { status: "marked", digital_source_type } };
    },
    markStream: markVideoStream,
    async sign({ bytes, received, mark }, facts, sources) {
      const { media_type } = facts;
      const hasManifest = readFileParts(received.bytes, received.media_type)?.manifest !== undefined;
      const marked = markFile(readFileParts(bytes, media_type), bytes, mark);
      const ofProvider = hasManifest ? received : undefined;
      const manifest = buildManifest({ ...facts, time: now(), received: ofProvider?.media_type });
      const ingredientFiles = [...sources, ...(ofProvider ? [ofProvider.bytes] : [])];
      const signed = await sign({ bytes: marked.bytes, media_type, manifest, ingredientFiles });
      const provenance = describeStored(signed, media_type, mark);
      // The reply of the process is untrusted: a file without a manifest is not called signed.
      if (provenance.status !== "signed") throw unavailable("the signed file has no manifest");
      return { bytes: signed, provenance };
    },
    signSource: (source, received) => signAs("source", source, received),
    signCopy: (copy, original) => signAs("conversion", copy, original),
    read,
    verify: (bytes) => verifyFile(read, bytes),
    pids: () => [...processes.pids(), ...[signers?.keyProcessId() ?? []].flat()],
    close() {
      processes.close();
      signers?.close();
    },
  };
}

/** The provenance of a file that this installation wrote. */
export function describeStored(bytes: Uint8Array, mediaType: string, mark: FileMark): FileProvenance {
  const manifest = readFileParts(bytes, mediaType)?.manifest;
  const digital_source_type = mark.digitalSourceType;
  if (!manifest) return { status: "marked", digital_source_type };
  return { status: "signed", digital_source_type, manifest_hash: sha256(manifest) };
}

const unavailable = (cause: unknown) => new Fault("dependency_unavailable", { dependency: "signer" }, { cause });
