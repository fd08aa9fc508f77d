// The program of a key process: the only one that holds the private keys of provenance. Its first message has the keys;
// each further one is signed with one of them. It parses nothing else and has no other secret.
import { constants, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "../../images/decoder-protocol.ts";
import { readSandboxStatus } from "../../images/isolated/sandbox-status.ts";
import { splitParts } from "../../images/pixel-tasks.ts";
import type { SigningAlgorithm } from "../signing-algorithms.ts";

const MAX_MESSAGE_BYTES = 1024 * 1024;
const nothing = new Uint8Array();
const DIGESTS: Record<SigningAlgorithm, string | null> = {
  es256: "sha256",
  es384: "sha384",
  ps256: "sha256",
  ed25519: null,
};
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

let keys: KeyObject[] = [];

function handle(message: DecoderMessage): DecoderMessage {
  const { header, bytes } = message;
  if (header.work === "load") {
    keys = splitParts(message).map((pem) => createPrivateKey(Buffer.from(pem)));
    return { header: { state: "loaded" }, bytes: nothing };
  }
  const key = keys[Number(header.key)];
  if (!key) throw new Error("there is no such key");
  const algorithm = header.algorithm as SigningAlgorithm;
  const options = algorithm === "ps256" ? { key, ...PSS } : { key, dsaEncoding: "ieee-p1363" as const };
  return { header: { state: "signature" }, bytes: sign(DIGESTS[algorithm], bytes, options) };
}

const send = (message: DecoderMessage) => {
  for (const part of encodeDecoderMessage(message)) process.stdout.write(part);
};

send({ header: { sandbox: readSandboxStatus() }, bytes: nothing });
for await (const message of readDecoderMessages(process.stdin, MAX_MESSAGE_BYTES)) {
  try {
    send(handle(message));
  } catch {
    // The reason may contain a part of the key.
    send({ header: { state: "failed", error: "the key cannot be used" }, bytes: nothing });
  }
}
