// A worker with identity keys: the engine that holds the private key drives runs, and a neighbour process gets nothing.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const folder = mkdtempSync(join(tmpdir(), "gesso-identity-"));
let environment: TestEnvironment;
let caller: ApiCaller;

/** Base58, in which Restate prints its public key. */
function encodeBase58(bytes: Buffer): string {
  let text = "";
  for (let rest = BigInt(`0x${bytes.toString("hex")}`); rest > 0n; rest /= 58n)
    text = ALPHABET[Number(rest % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(Math.max(0, zeros)) + text;
}

beforeAll(async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const file = join(folder, "identity.pem");
  writeFileSync(file, privateKey.export({ format: "pem", type: "pkcs8" }), { mode: 0o600 });
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  environment = await startTestEnvironment({
    restateSettings: { RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: file },
    env: { RESTATE_IDENTITY_KEYS: `publickeyv1_${encodeBase58(raw)}` },
  });
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true });
});

/** The status of a request to the worker by a process that is not the engine. */
async function statusOf(url: string, path: string, body?: string): Promise<number> {
  const session = connect(new URL(url).origin);
  session.on("error", () => {});
  try {
    const request = session.request({
      ":method": body === undefined ? "GET" : "POST",
      ":path": `${new URL(url).pathname}${path}`,
      "content-type": "application/vnd.restate.invocation.v5",
    });
    request.end(body);
    return await new Promise<number>((resolve, reject) => {
      request.on("response", (headers) => resolve(Number(headers[":status"])));
      request.on("error", reject);
    });
  } finally {
    session.destroy();
  }
}

it("executes runs for the engine and refuses requests without its signature", async () => {
  const { body } = await caller.generate({ prompt: "a boat", width: 64, height: 64, sync: true });
  expect(body.status).toBe("completed");
  const { deployments } = (await (await fetch(`${environment.adminUrl}/deployments`)).json()) as {
    deployments: { uri: string }[];
  };
  const { uri } = deployments[0]!;
  expect(await statusOf(uri.replace(/\/$/, ""), "/discover")).toBe(401);
  expect(await statusOf(uri.replace(/\/$/, ""), "/invoke/Run/run", "{}")).toBe(401);
});
