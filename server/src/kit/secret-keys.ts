// The keys of one purpose, derived from the server's secrets. The first key signs and encrypts; all of them verify and
// decrypt, so that a secret can be rotated while everything it signed stays valid.
import { hkdfSync } from "node:crypto";

export type SecretKeys = readonly [current: Uint8Array, ...accepted: Uint8Array[]];

/** Different keys for each purpose, all derived from the same secrets, so that none can be used in place of another. */
export const createKeyDerivation =
  (settings: { GESSO_SECRET: string; GESSO_ACCEPTED_SECRETS: string[] }) =>
  (purpose: string): SecretKeys => {
    const derive = (secret: string) => new Uint8Array(hkdfSync("sha256", secret, "gesso", purpose, 32));
    return [derive(settings.GESSO_SECRET), ...settings.GESSO_ACCEPTED_SECRETS.map(derive)];
  };
