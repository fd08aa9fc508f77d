import { describe, expect, it } from "vitest";
import { looksLikeJwt, parseUnverifiedToken } from "./token-syntax.ts";

const encode = (text: string) => Buffer.from(text).toString("base64url");
const PAYLOAD = JSON.stringify({ iss: "https://id.example" });
const tokenOf = (header: string, payload = PAYLOAD) => `${encode(header)}.${encode(payload)}.c2ln`;
const refused = expect.objectContaining({ code: "invalid_token" });

describe("a token", () => {
  it("is parsed into its header and its issuer", () => {
    const header = { alg: "RS256", kid: "k", typ: "at+jwt", x5t: "a", "x5t#S256": "b" };
    expect(parseUnverifiedToken(tokenOf(JSON.stringify(header)))).toEqual({ header, issuer: "https://id.example" });
    expect(parseUnverifiedToken(tokenOf(' { "alg" : "ES256" , "kid" : "k" } ')).header).toEqual({
      ...{ alg: "ES256", kid: "k" },
    });
    expect(parseUnverifiedToken(tokenOf('{"alg":"EdDSA"}')).header).toEqual({ alg: "EdDSA" });
  });

  it.each([
    ["a field that holds a key", '{"alg":"RS256","jwk":"x"}'],
    ["a field that names a key URL", '{"alg":"RS256","jku":"https://evil.example"}'],
    ["critical extensions", '{"alg":"RS256","crit":"exp"}'],
    ["the same field twice", '{"alg":"RS256","alg":"none"}'],
    ["no algorithm", '{"kid":"k"}'],
    ["no field", "{}"],
    ["an escape", '{"alg":"RS256","k\\u0069d":"k"}'],
    ["an escape in a value", '{"alg":"RS\\u0032"}'],
    ["a value that is no string", '{"alg":"RS256","kid":1}'],
    ["an object as a value", '{"alg":"RS256","kid":{"a":"b"}}'],
    ["text before it", 'x{"alg":"RS256"}'],
    ["text after it", '{"alg":"RS256"}x'],
    ["a comma at its end", '{"alg":"RS256",}'],
    ["no JSON", "alg"],
  ])("is refused if its header has %s", (_, header) => {
    expect(() => parseUnverifiedToken(tokenOf(header))).toThrow(refused);
  });

  it.each([
    ["no JSON", "x"],
    ["no issuer", "{}"],
    ["an issuer that is no string", '{"iss":1}'],
    ["null", "null"],
  ])("is refused if its payload is or has %s", (_, payload) => {
    expect(() => parseUnverifiedToken(tokenOf('{"alg":"RS256"}', payload))).toThrow(refused);
  });

  it("keeps the reason of an unreadable payload for the log", () => {
    expect(() => parseUnverifiedToken(tokenOf('{"alg":"RS256"}', "x"))).toThrow(
      expect.objectContaining({ cause: expect.any(SyntaxError) }),
    );
  });

  it("has three parts of base64url, and at most 8,192 characters", () => {
    const valid = tokenOf('{"alg":"RS256"}');
    for (const text of [
      `${valid}.x`,
      `x.${valid}`,
      valid.slice(0, -5),
      `${valid}=`,
      ` ${valid}`,
      `${valid}\n`,
      "",
      "..",
    ])
      expect(() => parseUnverifiedToken(text), text).toThrow(refused);
    const padded = (length: number) => `${valid}${"x".repeat(length - valid.length)}`;
    expect(parseUnverifiedToken(padded(8192)).header.alg).toBe("RS256");
    expect(() => parseUnverifiedToken(padded(8193))).toThrow(refused);
  });
});

it.each([
  ["a.b.c", true],
  ["..", true],
  ["a.b.c.d.e", true],
  ["a", false],
  ["a.b", false],
  ["a.b.c.d.e.f", false],
  ["", false],
])("%j looks like a token: %s", (text, expected) => expect(looksLikeJwt(text)).toBe(expected));
