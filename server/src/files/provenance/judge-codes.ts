// Turns the codes of failed checks, as C2PA names them, into one result. The gravest one counts: a change before an
// expired certificate, and that before an unknown signer.
import type { ProvenanceResult } from "../../contract/schemas/provenance.ts";

const CONTENT_HASHES = ["assertion.dataHash.mismatch", "assertion.bmffHash.mismatch", "assertion.boxesHash.mismatch"];
const EXPIRED = ["signingCredential.expired", "claimSignature.outsideValidity"];
const CREDENTIAL = "signingCredential.";

const isContent = (code: string) => CONTENT_HASHES.includes(code);
const isExpired = (code: string) => EXPIRED.includes(code);
const isCredential = (code: string) => code.startsWith(CREDENTIAL);

/** Undefined if no check failed. */
export function judgeCodes(codes: readonly string[]): ProvenanceResult | undefined {
  if (codes.some((code) => !isContent(code) && !isExpired(code) && !isCredential(code))) return "manifest_changed";
  if (codes.some(isContent)) return "content_changed";
  if (codes.some(isExpired)) return "certificate_expired";
  return codes.length > 0 ? "untrusted_signer" : undefined;
}
