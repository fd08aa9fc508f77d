// The certificate that signs outputs in development. It is created once per data folder, and its name says that it is
// not to be trusted.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateChain } from "./certificate-chain.ts";

const DEVELOPMENT_SIGNER = "Gesso development, not trusted";
const VALID_DAYS = 3650;

/** The settings that name its files. A certificate or a mode of the developer's own takes precedence. */
export async function developmentSigner(
  dataDir: string,
  environment: Record<string, string | undefined>,
): Promise<Record<string, string>> {
  const isConfigured = Object.keys(environment).some((name) => name.startsWith("PROVENANCE"));
  if (isConfigured) return {};
  const folder = join(dataDir, "provenance");
  const [certificateFile, keyFile] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  // The key is written last, so a start that was interrupted is repeated.
  if (!existsSync(keyFile)) {
    const { certificate, key } = await createCertificateChain({ name: DEVELOPMENT_SIGNER, toDays: VALID_DAYS });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(certificateFile, certificate);
    writeFileSync(keyFile, key, { mode: 0o600 });
  }
  return { PROVENANCE_CERTIFICATE_FILE: certificateFile, PROVENANCE_KEY_FILE: keyFile };
}
