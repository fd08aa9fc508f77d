// Checks an output of a service that signs: its manifest is intact, was signed by a known chain and names its own run.
// Without manifest and marks, the file is byte for byte what the vendor produced.

import { createProvenanceService } from "../../src/files/provenance/provenance-service.ts";
import { ProvenanceEnv } from "../../src/files/provenance/settings.ts";
import { postBytes } from "../../src/outbound/trusted-request.ts";
import type { ReadOutput } from "./check-outputs.ts";

export type SignedFileReader = {
  read: ReadOutput;
  /** Number of outputs by the name of who signed them. */
  signers: Map<string, number>;
  /** When the newest manifest of a run was built. */
  builtAt: Map<string, number>;
  close(): void;
};

/** `trustAnchors`: root certificates in PEM format. */
export function createSignedFileReader(trustAnchors: string): SignedFileReader {
  const settings = ProvenanceEnv.parse({ PROVENANCE_TRUST_ANCHORS: trustAnchors });
  const options = { clock: { now: () => Date.now() }, postBytes, megabytes: 512, seconds: 30 };
  const service = createProvenanceService(settings, options);
  const [signers, builtAt] = [new Map<string, number>(), new Map<string, number>()];
  return {
    signers,
    builtAt,
    close: () => service.close(),
    async read(bytes, { run_id, status }) {
      if (status !== "signed") return { problem: `output is ${status ?? "unmarked"}` };
      const { result, signer, manifests } = await service.verify(bytes);
      if (result !== "intact") return { problem: `output is ${result}` };
      if (manifests[0]?.run_id !== run_id) return { problem: "manifest names another run" };
      const name = signer?.name ?? "unnamed";
      signers.set(name, (signers.get(name) ?? 0) + 1);
      const times = manifests[0].actions.map(({ when }) => Date.parse(when ?? ""));
      builtAt.set(run_id, Math.max(builtAt.get(run_id) ?? 0, ...times));
      return { produced: removeProvenance(Buffer.from(bytes)) };
    },
  };
}

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12;
const INSERTED = ["caBX", "iTXtXML:com.adobe.xmp", "tEXtSoftware", "tEXtComment"];

/** A PNG without the chunks that Gesso inserts. */
function removeProvenance(png: Buffer): Buffer {
  const kept = [png.subarray(0, SIGNATURE_BYTES)];
  for (let start = SIGNATURE_BYTES; start < png.length; ) {
    const end = start + FRAME_BYTES + png.readUInt32BE(start);
    const name = png.toString("latin1", start + 4, start + 32);
    if (!INSERTED.some((each) => name.startsWith(each))) kept.push(png.subarray(start, end));
    start = end;
  }
  return Buffer.concat(kept);
}
