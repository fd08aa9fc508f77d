// Signed asset URLs. They are stable and cannot be guessed, and nothing is stored for them. They are valid as long as
// the secret is accepted and the row of the asset exists.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { SecretKeys } from "../../runtime/secret-keys.ts";
import { extensionOf, KNOWN_EXTENSIONS } from "../formats/detect-media-type.ts";

/** 128 bits cannot be guessed and keep the URL short. */
const signatureBytes = 16;

export type AssetUrlSigner = {
  sign(assetId: string, mediaType: string): string;
  /** `signatureFile` is the last segment of the URL, such as `mUq0….png`. */
  verify(assetId: string, signatureFile: string): boolean;
};

export const createAssetUrlSigner = (secrets: SecretKeys, publicUrl: string): AssetUrlSigner => {
  if (secrets.some((secret) => secret.byteLength < signatureBytes))
    throw new Error("The secret that signs asset URLs is too short.");
  // A prepared key makes each signature four times faster; a large run tree has thousands of URLs.
  const keys = secrets.map((secret) => createSecretKey(secret));
  const root = publicUrl.replace(/\/+$/, "");
  // The extension is signed too. Otherwise an asset would have several URLs, and caches several copies.
  const fileOf = (assetId: string, extension: string, key: KeyObject = keys[0]!): string => {
    const whole = createHmac("sha256", key).update(`asset-url\n${assetId}\n${extension}`).digest();
    return `${whole.subarray(0, signatureBytes).toString("base64url")}.${extension}`;
  };
  return {
    sign: (assetId, mediaType) => `${root}/files/${assetId}/${fileOf(assetId, extensionOf(mediaType))}`,
    verify: (assetId, signatureFile) => {
      const extension = signatureFile.slice(signatureFile.lastIndexOf(".") + 1);
      if (!KNOWN_EXTENSIONS.has(extension)) return false;
      // Compared as text: base64 has unused bits at its end, so several texts decode to the same signature.
      const given = Buffer.from(signatureFile);
      return keys.some((key) => {
        const expected = Buffer.from(fileOf(assetId, extension, key));
        return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
      });
    },
  };
};
