// Chooses how claims are signed: by a key in a process of its own, by a program or by an HTTP service of the operator.
import { type CertificateChain, selectChain, splitPrivateKeys } from "./certificate-chains.ts";
import { signWithCommand } from "./command-signer.ts";
import { createKeyProcess } from "./key-process.ts";
import type { ProvenanceSettings } from "./settings.ts";
import type { FindSigner, Signer } from "./signer.ts";

/** Sends bytes to the operator's signing service and returns its response. */
export type PostBytes = (url: string, token: string | undefined, bytes: Uint8Array) => Promise<Uint8Array>;

export type SignerSource = { find: FindSigner; keyProcessId(): number | undefined; close(): void };

/** Undefined without a certificate. */
export function createSignerSource(
  settings: ProvenanceSettings,
  chains: CertificateChain[],
  postBytes: PostBytes,
): SignerSource | undefined {
  if (chains.length === 0) return undefined;
  const { PROVENANCE_SIGN_COMMAND: command, PROVENANCE_SIGN_URL: url, PROVENANCE_SIGN_TOKEN: token } = settings;
  const keys = settings.PROVENANCE_KEY ? createKeyProcess(splitPrivateKeys(settings.PROVENANCE_KEY)) : undefined;
  const signWith = ({ algorithm, keyIndex }: CertificateChain): Signer["sign"] => {
    if (keys) return (bytes) => keys.sign(keyIndex!, algorithm, bytes);
    if (command !== undefined) return (bytes) => signWithCommand(command, algorithm, bytes);
    return (bytes) => postBytes(url!, token, bytes);
  };
  return {
    find(now) {
      const chain = selectChain(chains, now);
      if (!chain) throw new Error("no certificate of PROVENANCE_CERTIFICATE is valid now");
      const certificates = chain.certificates.map(({ raw }) => new Uint8Array(raw));
      return { algorithm: chain.algorithm, certificates, sign: signWith(chain) };
    },
    keyProcessId: () => keys?.pid(),
    close: () => keys?.close(),
  };
}
