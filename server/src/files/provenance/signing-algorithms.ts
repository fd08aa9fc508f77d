// The signature algorithms of C2PA that Gesso supports, chosen by the public key of the certificate.
import type { KeyObject } from "node:crypto";

export type SigningAlgorithm = "es256" | "es384" | "ps256" | "ed25519";

const CURVES: Record<string, SigningAlgorithm> = { prime256v1: "es256", secp384r1: "es384" };

/** Undefined for a key that no algorithm of C2PA can use. */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm | undefined {
  if (asymmetricKeyType === "ed25519") return "ed25519";
  if (asymmetricKeyType === "rsa" || asymmetricKeyType === "rsa-pss") return "ps256";
  return CURVES[asymmetricKeyDetails?.namedCurve ?? ""];
}

const COORDINATE_BYTES: Partial<Record<SigningAlgorithm, number>> = { es256: 32, es384: 48 };

/**
 * Key stores return ECDSA signatures in DER; COSE needs two numbers of fixed size. A signature that has this form
 * already, or of another algorithm, is returned as it is.
 */
export function toCoseForm(algorithm: SigningAlgorithm, signature: Uint8Array): Uint8Array {
  const size = COORDINATE_BYTES[algorithm];
  if (size === undefined || signature.byteLength === 2 * size) return signature;
  const reader = Buffer.from(signature);
  let at = reader[1] === 0x81 ? 3 : 2;
  const readNumber = () => {
    const length = reader[at + 1] ?? 0;
    const number = reader.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    const trimmed = number[0] === 0 ? number.subarray(1) : number;
    if (reader[at - 2 - length] !== 0x02 || trimmed.byteLength > size) throw new Error("not an ECDSA signature in DER");
    return Buffer.concat([Buffer.alloc(size - trimmed.byteLength), trimmed]);
  };
  if (reader[0] !== 0x30) throw new Error("not an ECDSA signature in DER");
  return Buffer.concat([readNumber(), readNumber()]);
}
