// The program of a manifest process: reads and writes C2PA manifests, which means parsing untrusted files. It has no
// key: what has to be signed is a message of its own, and the signature is the answer.
import { type DecoderMessage, encodeDecoderMessage, readDecoderMessages } from "../../images/decoder-protocol.ts";
import { readSandboxStatus } from "../../images/isolated/sandbox-status.ts";
import { splitParts } from "../../images/pixel-tasks.ts";
import type { BuiltManifest } from "../build-manifest.ts";
import type { SigningAlgorithm } from "../signing-algorithms.ts";
import { type C2paLibrary, loadC2paLibrary } from "./c2pa-library.ts";
import { buildCoseSignature, bytesToSign, reservedBytes } from "./cose-signature.ts";

const MAX_MESSAGE_BYTES = 512 * 1024 * 1024;
const nothing = new Uint8Array();

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");

const send = (message: DecoderMessage) => {
  for (const part of encodeDecoderMessage(message)) process.stdout.write(part);
};

/** Nothing is fetched, and a finished manifest is not read again: the signature was made for these bytes. */
const settings = (trustAnchors: string) =>
  JSON.stringify({
    verify: {
      verify_trust: trustAnchors !== "",
      verify_after_sign: false,
      remote_manifest_fetch: false,
      ocsp_fetch: false,
    },
    builder: { thumbnail: { enabled: false } },
    ...(trustAnchors !== "" && { trust: { trust_anchors: trustAnchors } }),
  });

type SignRequest = { media_type: string; algorithm: SigningAlgorithm; certificateCount: number };

/** Parts: trust anchors, manifest, file, the certificates in DER, then the bytes of each ingredient. */
async function sign(
  library: C2paLibrary,
  request: DecoderMessage,
  askSignature: (bytes: Uint8Array) => Promise<Uint8Array>,
): Promise<DecoderMessage> {
  const header = request.header as unknown as SignRequest;
  const [anchors, manifest, file, ...others] = splitParts(request) as [Uint8Array, Uint8Array, Uint8Array];
  const certificates = others.slice(0, header.certificateCount);
  const ingredientFiles = others.slice(header.certificateCount);
  const signer = { algorithm: header.algorithm, certificates };
  const { definition, ingredients } = JSON.parse(textOf(manifest)) as BuiltManifest;
  const builder = library.Builder.fromJson(JSON.stringify(definition), settings(textOf(anchors)));
  try {
    for (const [index, ingredient] of ingredients.entries()) {
      const blob = library.toBlob(ingredientFiles[index]!, ingredient.format);
      await builder.addIngredientFromBlob(JSON.stringify(ingredient), ingredient.format, blob);
    }
    const definitionOfSigner = {
      alg: header.algorithm,
      reserveSize: reservedBytes(signer),
      sign: async (claim: Uint8Array) => {
        const signature = await askSignature(bytesToSign(signer, Uint8Array.from(claim)));
        return Uint8Array.from(buildCoseSignature(signer, signature));
      },
    };
    const blob = library.toBlob(file, header.media_type);
    const signed: { asset: Uint8Array } = await builder.signAndGetManifestBytes(
      definitionOfSigner,
      header.media_type,
      blob,
    );
    return { header: { state: "signed" }, bytes: signed.asset };
  } finally {
    builder.free();
  }
}

/** Parts: trust anchors, file. */
async function read(library: C2paLibrary, request: DecoderMessage): Promise<DecoderMessage> {
  const type = String(request.header.media_type);
  const [anchors, file] = splitParts(request) as [Uint8Array, Uint8Array];
  const reader = await library.Reader.fromBlob(type, library.toBlob(file, type), settings(textOf(anchors)));
  try {
    return { header: { state: "read" }, bytes: Buffer.from(reader.json()) };
  } finally {
    reader.free();
  }
}

const library = loadC2paLibrary();
const messages = readDecoderMessages(process.stdin, MAX_MESSAGE_BYTES);
send({ header: { sandbox: readSandboxStatus() }, bytes: nothing });

const askSignature = async (bytes: Uint8Array): Promise<Uint8Array> => {
  send({ header: { state: "to_sign" }, bytes });
  const { value } = await messages.next();
  if (value?.header.work !== "signature") throw new Error("no signature was given");
  return value.bytes;
};

for (let next = await messages.next(); !next.done; next = await messages.next()) {
  const request = next.value;
  const work = request.header.work === "sign" ? sign(library, request, askSignature) : read(library, request);
  send(
    await work.catch((thrown: unknown) => ({
      header: { state: "failed", error: String((thrown as Error)?.message ?? thrown) },
      bytes: nothing,
    })),
  );
}
