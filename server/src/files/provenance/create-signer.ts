// Chooses how claims are signed: by a key in a process of its own, by a program or by an HTTP service of the operator.
import { spawn } from "node:child_process";
import { systemClock } from "../../runtime/system-clock.ts";
import { PATH } from "../images/decoder-process.ts";
import { type CertificateChain, selectChain, splitPrivateKeys } from "./certificate-chains.ts";
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

const COMMAND_SECONDS = 15;
const MAX_SIGNATURE_BYTES = 1024;

/**
 * Gets a signature from a program of the operator, for keys in an HSM: the bytes to sign on standard input, the
 * signature on standard output. The program gets no environment variables but PATH.
 */
async function signWithCommand(command: string, algorithm: string, bytes: Uint8Array): Promise<Uint8Array> {
  const child = spawn(command, [algorithm], { env: { PATH }, cwd: "/", stdio: ["pipe", "pipe", "ignore"] });
  const timer = systemClock.after(COMMAND_SECONDS * 1000, () => child.kill("SIGKILL"));
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A program that ends early closes its input. Its exit code says whether it succeeded.
  child.stdin.on("error", () => undefined);
  child.stdin.end(bytes);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  timer.stop();
  const signature = Buffer.concat(chunks);
  if (exitCode !== 0) throw new Error(`PROVENANCE_SIGN_COMMAND ended with exit code ${exitCode}`);
  if (signature.byteLength === 0 || signature.byteLength > MAX_SIGNATURE_BYTES)
    throw new Error("PROVENANCE_SIGN_COMMAND returned no signature");
  return signature;
}
