// Authentication, as far as the one key of a development installation shows it.
import { describe, expect, it } from "vitest";
import { statusAndCode } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();

/** Reads the list of runs with these headers and no others. */
async function readWith(headers: Record<string, string>) {
  const response = await fetch(`${suite.environment.url}/api/v1/runs`, { headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}
const key = () => suite.environment.key;
/** A well-formed unknown key: forty random characters and a valid checksum. */
const otherKey = () => `gsk_${"0".repeat(40)}${key().slice(-6)}`;

describe("a credential", () => {
  it("[AUT-001] is an API key as Bearer", async () => {
    expect((await readWith({ authorization: `Bearer ${key()}` })).status).toBe(200);
  });

  it("[AUT-002] is an API key in X-API-Key by itself", async () => {
    expect((await readWith({ "x-api-key": key() })).status).toBe(200);
  });

  it("[AUT-003] may not be two different ones", async () => {
    const both = await readWith({ authorization: `Bearer ${key()}`, "x-api-key": otherKey() });
    expect(statusAndCode(both)).toEqual([400, "ambiguous_credentials"]);
    const turned = await readWith({ authorization: `Bearer ${otherKey()}`, "x-api-key": key() });
    expect(statusAndCode(turned)).toEqual([400, "ambiguous_credentials"]);
  });

  it("[AUT-004] may be the same key twice", async () => {
    expect((await readWith({ authorization: `Bearer ${key()}`, "x-api-key": key() })).status).toBe(200);
  });

  it("[AUT-005] must be there", async () => {
    const response = await readWith({});
    expect(statusAndCode(response)).toEqual([401, "authentication_required"]);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
  });

  it("[AUT-008] with a changed character of its checksum is refused", async () => {
    for (let place = 1; place <= 6; place++) {
      const at = key().length - place;
      const changed = `${key().slice(0, at)}${key()[at] === "a" ? "b" : "a"}${key().slice(at + 1)}`;
      expect(statusAndCode(await readWith({ authorization: `Bearer ${changed}` }))).toEqual([401, "invalid_api_key"]);
    }
  });

  it("that is malformed and one that is unknown get the same response", async () => {
    const responses = [
      await readWith({ authorization: "Bearer nonsense" }),
      await readWith({ authorization: `Bearer ${otherKey()}` }),
      await readWith({ "x-api-key": "gsk_" }),
    ];
    for (const response of responses) expect(statusAndCode(response)).toEqual([401, "invalid_api_key"]);
    expect(new Set(responses.map(({ body }) => body.message)).size).toBe(1);
  });
});
