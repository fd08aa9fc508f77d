// Certificates of a test authority, so that one can be expired or have another name and be valid otherwise. They are
// encoded by hand in DER.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const DAY_MS = 24 * 60 * 60 * 1000;
const ECDSA_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];
const ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];

export type Certificate = { key: string; cert: string };
export type Authority = {
  cert: string;
  issue(host: string, validity?: Validity): Certificate;
};

export function createAuthority(): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = `tests ${createHash("sha256").update(randomBytes(8)).digest("hex").slice(0, 8)}`;
  const isAuthority = extension(BASIC_CONSTRAINTS, sequence(tag(0x01, [0xff])));
  const usual = { fromDays: -1, toDays: 30 };
  return {
    cert: pem(
      certificate({ subject: name, issuer: name, publicKey: own.publicKey, ...usual }, own.privateKey, isAuthority),
    ),
    issue(host, validity = usual) {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = extension(ALTERNATIVE_NAME, sequence(tag(0x82, Buffer.from(host))));
      const whole = certificate({ subject: host, issuer: name, publicKey, ...validity }, own.privateKey, names);
      return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert: pem(whole) };
    },
  };
}

type Validity = { fromDays: number; toDays: number };
type About = Validity & { subject: string; issuer: string; publicKey: KeyObject };

function certificate(about: About, signer: KeyObject, extensions: Buffer): Buffer {
  const algorithm = sequence(tag(0x06, ECDSA_SHA256));
  const body = sequence(
    tag(0xa0, tag(0x02, [2])),
    tag(0x02, [1, ...randomBytes(8)]),
    algorithm,
    nameOf(about.issuer),
    sequence(timeIn(about.fromDays), timeIn(about.toDays)),
    nameOf(about.subject),
    about.publicKey.export({ type: "spki", format: "der" }),
    tag(0xa3, sequence(extensions)),
  );
  return sequence(body, algorithm, tag(0x03, [0, ...sign("sha256", body, signer)]));
}

function tag(kind: number, content: Uint8Array | number[]): Buffer {
  const bytes = Buffer.from(content);
  const size = bytes.length;
  const long = size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([kind, ...(size < 128 ? [size] : long)]), bytes]);
}

const sequence = (...parts: Buffer[]) => tag(0x30, Buffer.concat(parts));
const nameOf = (name: string) => sequence(tag(0x31, sequence(tag(0x06, COMMON_NAME), tag(0x0c, Buffer.from(name)))));
const extension = (kind: number[], content: Buffer) => sequence(tag(0x06, kind), tag(0x04, content));
const timeIn = (days: number) =>
  tag(0x18, Buffer.from(`${new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]|\..*/g, "")}Z`));
const pem = (der: Buffer) =>
  ["-----BEGIN CERTIFICATE-----", ...der.toString("base64").match(/.{1,64}/g)!, "-----END CERTIFICATE-----", ""].join(
    "\n",
  );
