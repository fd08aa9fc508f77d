// Certificate chains for tests of provenance: a root and a certificate for signing claims, encoded by hand in DER.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const DAY_MS = 24 * 60 * 60 * 1000;
const OID = {
  ecdsaSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  country: [0x55, 0x04, 0x06],
  organization: [0x55, 0x04, 0x0a],
  commonName: [0x55, 0x04, 0x03],
  subjectKeyId: [0x55, 0x1d, 0x0e],
  keyUsage: [0x55, 0x1d, 0x0f],
  basicConstraints: [0x55, 0x1d, 0x13],
  authorityKeyId: [0x55, 0x1d, 0x23],
  extendedKeyUsage: [0x55, 0x1d, 0x25],
  emailProtection: [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x04],
};
const TRUE = [0x01, 0x01, 0xff];

export type TestChain = { certificate: string; key: string; root: string };
type ChainOptions = { name: string; fromDays?: number; toDays?: number };

export function createTestChain({ name, fromDays = -1, toDays = 365 }: ChainOptions): TestChain {
  const [root, leaf] = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" })) as [KeyPair, KeyPair];
  const rootName = nameOf(`${name} root`, name);
  const rootCertificate = certificate({
    ...{ subject: rootName, issuer: rootName, publicKey: root.publicKey, issuerKey: root },
    ...{ fromDays: Math.min(fromDays, -1) - 30, toDays: Math.max(toDays, 1) + 365 },
    extensions: [
      extension(OID.basicConstraints, sequence(Buffer.from(TRUE)), true),
      extension(OID.keyUsage, tag(0x03, [1, 0x06]), true),
    ],
  });
  const leafCertificate = certificate({
    ...{ subject: nameOf(name, name), issuer: rootName, publicKey: leaf.publicKey, issuerKey: root, fromDays, toDays },
    extensions: [
      extension(OID.basicConstraints, sequence(), true),
      extension(OID.keyUsage, tag(0x03, [7, 0x80]), true),
      extension(OID.extendedKeyUsage, sequence(tag(0x06, OID.emailProtection))),
    ],
  });
  return {
    certificate: pem(leafCertificate) + pem(rootCertificate),
    key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    root: pem(rootCertificate),
  };
}

type KeyPair = { publicKey: KeyObject; privateKey: KeyObject };
type CertificateFields = {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  issuerKey: KeyPair;
  fromDays: number;
  toDays: number;
  extensions: Buffer[];
};

function certificate({
  subject,
  issuer,
  publicKey,
  issuerKey,
  fromDays,
  toDays,
  extensions,
}: CertificateFields): Buffer {
  const algorithm = sequence(tag(0x06, OID.ecdsaSha256));
  const body = sequence(
    tag(0xa0, tag(0x02, [2])),
    tag(0x02, [1, ...randomBytes(8)]),
    algorithm,
    issuer,
    sequence(timeIn(fromDays), timeIn(toDays)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tag(
      0xa3,
      sequence(
        ...extensions,
        extension(OID.subjectKeyId, tag(0x04, keyId(publicKey))),
        extension(OID.authorityKeyId, sequence(tag(0x80, keyId(issuerKey.publicKey)))),
      ),
    ),
  );
  return sequence(body, algorithm, tag(0x03, [0, ...sign("sha256", body, issuerKey.privateKey)]));
}

const keyId = (key: KeyObject) =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();

function tag(kind: number, content: Uint8Array | number[]): Buffer {
  const bytes = Buffer.from(content);
  const size = bytes.length;
  const long = size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([kind, ...(size < 128 ? [size] : long)]), bytes]);
}

const sequence = (...parts: Buffer[]) => tag(0x30, Buffer.concat(parts));
const attribute = (kind: number[], type: number, text: string) =>
  tag(0x31, sequence(tag(0x06, kind), tag(type, Buffer.from(text))));
const nameOf = (commonName: string, organization: string) =>
  sequence(
    attribute(OID.country, 0x13, "DE"),
    attribute(OID.organization, 0x0c, organization),
    attribute(OID.commonName, 0x0c, commonName),
  );
const extension = (kind: number[], content: Buffer, isCritical = false) =>
  sequence(tag(0x06, kind), ...(isCritical ? [Buffer.from(TRUE)] : []), tag(0x04, content));
const timeIn = (days: number) =>
  tag(0x18, Buffer.from(`${new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]|\..*/g, "")}Z`));
const pem = (der: Buffer) =>
  ["-----BEGIN CERTIFICATE-----", ...der.toString("base64").match(/.{1,64}/g)!, "-----END CERTIFICATE-----", ""].join(
    "\n",
  );
