// The signatures of messages, held against the official package and against its published vector.
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createSigningKey, encodeSecret, signMessage, toPublicJwk } from "./message-signature.ts";

const key = createSigningKey(new Uint8Array(32).fill(7));
const now = () => Math.floor(Date.now() / 1000);
const headersOf = (id: string, timestamp: number, signature: string) => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": signature,
});

describe("a signature", () => {
  it("is the one of the published vector", () => {
    const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
    const signature = signMessage(message, ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], [key]);
    expect(signature.split(" ")[0]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("is believed by the official package 1,000 times of 1,000, and not once after one bit was changed", () => {
    const seen = { believed: 0, refused: 0 };
    for (let n = 0; n < 1000; n++) {
      const secret = encodeSecret(randomBytes(24 + (n % 41)));
      const message = {
        id: `evt_${n}`,
        timestamp: now(),
        body: JSON.stringify({ n, words: "plain", bytes: "x".repeat(n) }),
      };
      const signature = signMessage(message, [secret], [key]);
      const receiver = new Webhook(secret);
      const headers = headersOf(message.id, message.timestamp, signature);
      receiver.verify(message.body, headers);
      seen.believed++;
      const bytes = Buffer.from(message.body);
      const bit = n % (bytes.length * 8);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      try {
        receiver.verify(bytes.toString("latin1"), headers);
      } catch {
        seen.refused++;
      }
    }
    expect(seen).toEqual({ believed: 1000, refused: 1000 });
  });

  it("is refused when one bit of it, of the id or of the time was changed", () => {
    const secret = encodeSecret(randomBytes(32));
    const message = { id: "evt_one", timestamp: now(), body: "{}" };
    const [shared = ""] = signMessage(message, [secret], [key]).split(" ");
    const receiver = new Webhook(secret);
    const digest = Buffer.from(shared.slice(3), "base64");
    for (let bit = 0; bit < 256; bit++) {
      const changed = Buffer.from(digest);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const headers = headersOf(message.id, message.timestamp, `v1,${changed.toString("base64")}`);
      expect(() => receiver.verify(message.body, headers)).toThrow();
    }
    expect(() => receiver.verify(message.body, headersOf("evt_two", message.timestamp, shared))).toThrow();
    expect(() => receiver.verify(message.body, headersOf(message.id, message.timestamp + 1, shared))).toThrow();
  });

  it("is there once for each secret, so that a receiver with the old one and one with the new one both believe it", () => {
    const [old, fresh] = [encodeSecret(randomBytes(32)), "words of mine, sixteen and more"];
    const message = { id: "evt_one", timestamp: now(), body: "{}" };
    const headers = headersOf(message.id, message.timestamp, signMessage(message, [fresh, old], [key]));
    new Webhook(old).verify("{}", headers);
    // The package takes a secret without the prefix as base64; ours are taken as they stand.
    new Webhook(Buffer.from(fresh).toString("base64")).verify("{}", headers);
    expect(() => new Webhook(encodeSecret(randomBytes(32))).verify("{}", headers)).toThrow();
  });

  it("can be checked with the public key alone", () => {
    const message = { id: "evt_one", timestamp: now(), body: '{"a":1}' };
    const last = signMessage(message, ["sixteen bytes or more"], [key]).split(" ").at(-1)!;
    expect(last.startsWith("v1a,")).toBe(true);
    const { kty, crv, x } = toPublicJwk(key);
    const receiver = createPublicKey({ key: { kty, crv, x }, format: "jwk" });
    const check = (content: string) =>
      verify(null, Buffer.from(content), receiver, Buffer.from(last.slice(4), "base64"));
    expect(check(`${message.id}.${message.timestamp}.${message.body}`)).toBe(true);
    expect(check(`${message.id}.${message.timestamp}.${message.body} `)).toBe(false);
  });
});

it("the public key is published as a JWK with an ID of its own", () => {
  const jwk = toPublicJwk(key);
  expect(jwk).toEqual({
    ...{ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" },
    x: expect.stringMatching(/^[\w-]{43}$/),
    kid: expect.stringMatching(/^[\w-]{16}$/),
  });
  expect(toPublicJwk(createSigningKey(new Uint8Array(32).fill(8))).kid).not.toBe(jwk.kid);
  expect(toPublicJwk(createSigningKey(new Uint8Array(32).fill(7)))).toEqual(jwk);
});

it("without secrets or without keys, only the others sign", () => {
  const message = { id: "evt_one", timestamp: 1, body: "{}" };
  expect(signMessage(message, [], [])).toBe("");
  expect(signMessage(message, ["a", "b"], [])).toMatch(/^v1,\S{44} v1,\S{44}$/);
  expect(signMessage(message, [], [key, key])).toMatch(/^v1a,\S{88} v1a,\S{88}$/);
});
