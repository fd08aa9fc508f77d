// Reads certificates and pairs them with keys. Several chains can be configured: of those that are valid now, the one
// that became valid last signs, so that a new certificate takes over without a gap.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { algorithmOf, type SigningAlgorithm } from "./signing-algorithms.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[^-]+-----END (?:EC |RSA )?PRIVATE KEY-----/g;

/** `keyIndex`: the key of the first certificate among the private keys; undefined if it is held elsewhere. */
export type CertificateChain = {
  certificates: X509Certificate[];
  algorithm: SigningAlgorithm;
  keyIndex: number | undefined;
  validFrom: number;
  validTo: number;
};

export const splitCertificates = (pem: string): X509Certificate[] =>
  (pem.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each));

export const splitPrivateKeys = (pem: string): string[] => pem.match(PRIVATE_KEY) ?? [];

/** Throws with a sentence for the operator, which has no part of a key. */
export function readChains(certificatePem: string, keyPem: string | undefined): CertificateChain[] {
  const certificates = parse("PROVENANCE_CERTIFICATE", () => splitCertificates(certificatePem));
  if (certificates.length === 0) throw new Error("PROVENANCE_CERTIFICATE has no certificate in PEM format");
  const keys = splitPrivateKeys(keyPem ?? "").map((pem) => parse("PROVENANCE_KEY", () => createPrivateKey(pem)));
  if (keyPem !== undefined && keys.length === 0) throw new Error("PROVENANCE_KEY has no private key in PEM format");
  const publicKeys = keys.map((key) => createPublicKey(key));
  const leaves = certificates.filter(({ ca }) => !ca);
  const chains = leaves.flatMap((leaf): CertificateChain[] => {
    const keyIndex = publicKeys.findIndex((key) => key.equals(leaf.publicKey));
    if (keyPem !== undefined && keyIndex < 0) return [];
    return [toChain(leaf, certificates, keyPem === undefined ? undefined : keyIndex)];
  });
  if (chains.length === 0)
    throw new Error("no certificate of PROVENANCE_CERTIFICATE belongs to a key of PROVENANCE_KEY");
  return chains;
}

function toChain(leaf: X509Certificate, all: X509Certificate[], keyIndex: number | undefined): CertificateChain {
  const certificates = [leaf];
  for (let last = leaf; last.issuer !== last.subject; ) {
    const issuer = all.find((each) => each !== last && last.checkIssued(each));
    if (!issuer || certificates.includes(issuer)) break;
    certificates.push(issuer);
    last = issuer;
  }
  const algorithm = algorithmOf(leaf.publicKey as KeyObject);
  if (!algorithm) throw new Error("PROVENANCE_CERTIFICATE needs a key of type P-256, P-384, RSA or Ed25519");
  const [validFrom, validTo] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  return { certificates, algorithm, keyIndex, validFrom, validTo };
}

function parse<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new Error(`${name} cannot be read`);
  }
}

/** Undefined if every certificate has expired or is not valid yet. */
export const selectChain = (chains: CertificateChain[], now: number): CertificateChain | undefined =>
  chains
    .filter(({ validFrom, validTo }) => validFrom <= now && now < validTo)
    .reduce<CertificateChain | undefined>(
      (best, chain) => (best && best.validFrom >= chain.validFrom ? best : chain),
      undefined,
    );

/** The last certificate of each chain: what an own signature is trusted by. */
export const trustAnchorsOf = (chains: CertificateChain[]): string =>
  [...new Set(chains.map(({ certificates }) => certificates.at(-1)!.toString()))].join("\n");
