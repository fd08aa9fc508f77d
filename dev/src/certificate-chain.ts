// Creates a root certificate and a certificate that signs C2PA claims. Only those who are given the root trust them.
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

const DAY_MS = 24 * 60 * 60 * 1000;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** In PEM format. `certificate` has the whole chain, up to `root`. */
export type CreatedChain = { certificate: string; key: string; root: string };
/** From when to when the certificate is valid, in days from now. */
type ChainOptions = { name: string; fromDays?: number; toDays?: number };

export async function createCertificateChain({
  name,
  fromDays = -1,
  toDays = 365,
}: ChainOptions): Promise<CreatedChain> {
  cryptoProvider.set(crypto);
  const [rootKeys, keys] = await Promise.all([createKeys(), createKeys()]);
  // An organization is required of certificates that sign claims.
  const named = (commonName: string): JsonName => [{ CN: [commonName] }, { O: [name] }];
  const issuer = named(`${name} root`);
  const root = await X509CertificateGenerator.createSelfSigned({
    ...{ name: issuer, keys: rootKeys, signingAlgorithm: ALGORITHM },
    ...validity(Math.min(fromDays, -1) - 30, Math.max(toDays, 1) + 365),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(rootKeys.publicKey),
    ],
  });
  const leaf = await X509CertificateGenerator.create({
    ...{ subject: named(name), issuer, publicKey: keys.publicKey, signingKey: rootKeys.privateKey },
    ...{ signingAlgorithm: ALGORITHM, ...validity(fromDays, toDays) },
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.emailProtection]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(rootKeys.publicKey),
    ],
  });
  const key = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    certificate: `${leaf.toString("pem")}\n${root.toString("pem")}\n`,
    key: `${PemConverter.encode(key, "PRIVATE KEY")}\n`,
    root: `${root.toString("pem")}\n`,
  };
}

const createKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const validity = (fromDays: number, toDays: number) => ({
  notBefore: new Date(Date.now() + fromDays * DAY_MS),
  notAfter: new Date(Date.now() + toDays * DAY_MS),
});
