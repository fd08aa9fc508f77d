// Secrets at rest: nothing shows, and only the row that one was sealed for opens it.
import { randomBytes } from "node:crypto";
import { v7 } from "uuid";
import { describe, expect, it } from "vitest";
import { createSecretCipher } from "./secret-cipher.ts";

const SECRET = "a secret that nobody shall read";
const name = () => ({ tenant_id: v7(), owner_id: v7(), secret_id: v7() });

describe("the vault", () => {
  const key = randomBytes(32);
  const vault = createSecretCipher([key]);

  it("gives back what was put in, also to another process with the same key", () => {
    const sealed = vault.encrypt(name(), SECRET);
    expect(vault.decrypt(sealed)).toBe(SECRET);
    expect(createSecretCipher([key]).decrypt(sealed)).toBe(SECRET);
  });

  it("shows nothing of it, and never the same twice", () => {
    const row = name();
    const [one, two] = [vault.encrypt(row, SECRET), vault.encrypt(row, SECRET)];
    expect(one.sealed.equals(two.sealed)).toBe(false);
    expect(one.sealed.toString("latin1")).not.toContain(SECRET);
    expect(one.key_id).toBe(two.key_id);
    expect(key.toString("hex")).not.toContain(one.key_id);
  });

  it("opens nothing that was moved to another row, changed, or sealed with another key", () => {
    const sealed = vault.encrypt(name(), SECRET);
    for (const moved of [{ tenant_id: v7() }, { owner_id: v7() }, { secret_id: v7() }]) {
      expect(() => vault.decrypt({ ...sealed, ...moved })).toThrow();
    }
    for (let byte = 0; byte < sealed.sealed.length; byte++) {
      const changed = Buffer.from(sealed.sealed);
      changed[byte]! ^= 1;
      expect(() => vault.decrypt({ ...sealed, sealed: changed })).toThrow();
    }
    expect(() => createSecretCipher([randomBytes(32)]).decrypt(sealed)).toThrow();
  });

  it("reports a secret that it cannot read as an error of the server, without the secret", () => {
    const sealed = vault.encrypt(name(), SECRET);
    const fault = { code: "internal_error", details: { reason: "secret_unreadable" } };
    expect(() => vault.decrypt({ ...sealed, owner_id: v7() })).toThrow(expect.objectContaining(fault));
    const other = createSecretCipher([randomBytes(32)]);
    expect(() => other.decrypt(sealed)).toThrow(
      expect.objectContaining({
        ...fault,
        cause: new Error(`encrypted with key ${sealed.key_id}; accepted: ${other.currentKeyId}`),
      }),
    );
  });

  it("identifies its key by 12 characters that stay the same", () => {
    expect(createSecretCipher([new Uint8Array(32)]).currentKeyId).toBe("74204b246e47");
  });

  it("decrypts with every accepted key and encrypts with the first", () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const before = createSecretCipher([oldKey]);
    const during = createSecretCipher([newKey, oldKey]);
    const after = createSecretCipher([newKey]);
    const sealedBefore = before.encrypt(name(), SECRET);
    expect(during.decrypt(sealedBefore)).toBe(SECRET);
    expect(() => after.decrypt(sealedBefore)).toThrow();
    const sealedDuring = during.encrypt(name(), SECRET);
    expect(sealedDuring.key_id).toBe(during.currentKeyId);
    expect(after.decrypt(sealedDuring)).toBe(SECRET);
    expect(() => before.decrypt(sealedDuring)).toThrow();
  });
});
