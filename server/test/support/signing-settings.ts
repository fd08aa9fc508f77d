// Settings of a server that signs its outputs with a certificate of its own.
import { createCertificateChain } from "@gesso/dev/certificate-chain";

export async function createSigningSettings(name: string): Promise<Record<string, string>> {
  const { certificate, key } = await createCertificateChain({ name });
  return { PROVENANCE: "sign", PROVENANCE_CERTIFICATE: certificate, PROVENANCE_KEY: key };
}
