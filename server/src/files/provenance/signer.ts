// A signer of claims: a certificate chain and a way to get signatures, which need not be a key in this installation.
import type { SigningAlgorithm } from "./signing-algorithms.ts";

/** `certificates`: the chain in DER, the one of the signer first. */
export type Signer = {
  algorithm: SigningAlgorithm;
  certificates: Uint8Array[];
  /** Throws while the key cannot be reached. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
};

/** The signer at this time, in milliseconds since 1970. Throws if no certificate is valid. */
export type FindSigner = (now: number) => Signer;
