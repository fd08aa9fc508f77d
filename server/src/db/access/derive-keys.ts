// Derives the keys of one purpose from the server's secrets.
import { hkdfSync } from "node:crypto";
import type { SecretKeys } from "../../runtime/secret-keys.ts";

/** Different keys for each purpose, all derived from the same secrets, so that none can be used in place of another. */
export const createKeyDerivation =
  (settings: { GESSO_SECRET: string; GESSO_ACCEPTED_SECRETS: string[] }) =>
  (purpose: string): SecretKeys => {
    const derive = (secret: string) => new Uint8Array(hkdfSync("sha256", secret, "gesso", purpose, 32));
    return [derive(settings.GESSO_SECRET), ...settings.GESSO_ACCEPTED_SECRETS.map(derive)];
  };
