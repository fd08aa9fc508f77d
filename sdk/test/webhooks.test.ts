// A receiver believes what Gesso signed, and nothing else.
import { expect, it } from "vitest";
import { generateTestHeaders, unwrap, verifySignature, WebhookVerificationError } from "../src/webhooks.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "a plain secret of some length";
const BODY = '{"test": 2432232314}';
const AT = 1614265330;
const now = () => AT * 1000;

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "believed",
    (error: WebhookVerificationError) => error.reason,
  );

it("[SDK-16] signs as the reference libraries do", async () => {
  const headers = await generateTestHeaders(BODY, SECRET, { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: AT });
  expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  expect(await unwrap(BODY, headers, SECRET, { now })).toEqual({ test: 2432232314 });
});

it("[SDK-16] refuses a wrong secret, a changed body, and what is too old or too new", async () => {
  const headers = await generateTestHeaders(BODY, SECRET, { timestamp: AT });
  const verify = (body: string, secret: string, at = AT) =>
    reasonOf(verifySignature(body, headers, secret, { now: () => at * 1000 }));
  expect(await verify(BODY, SECRET)).toBe("believed");
  expect(await verify(BODY, OTHER)).toBe("bad_signature");
  expect(await verify(`${BODY} `, SECRET)).toBe("bad_signature");
  expect(await verify(BODY, SECRET, AT + 301)).toBe("too_old");
  expect(await verify(BODY, SECRET, AT - 301)).toBe("too_new");
  expect(await verify(BODY, SECRET, AT + 299)).toBe("believed");
  expect(await reasonOf(verifySignature(BODY, {}, SECRET))).toBe("missing_headers");
  expect(await verify(BODY, "whsec_***")).toBe("bad_secret");
  const error = await verifySignature(BODY, {}, SECRET).catch((thrown) => thrown);
  expect(WebhookVerificationError.isInstance(error)).toBe(true);
  expect(error.docUrl).toBeUndefined();
});

it("[SDK-16] accepts one of several signatures and secrets, and headers in every form", async () => {
  const headers = await generateTestHeaders(BODY, ["the new one, long enough", SECRET], { timestamp: AT });
  expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
  const lists = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value.split(" ")]),
  );
  const request = new Request("http://receiver.example", { method: "POST", body: BODY, headers });
  for (const form of [headers, new Headers(headers), lists, request]) {
    expect(await reasonOf(verifySignature(BODY, form, SECRET, { now }))).toBe("believed");
    expect(await reasonOf(verifySignature(new TextEncoder().encode(BODY), form, [OTHER, SECRET], { now }))).toBe(
      "believed",
    );
    expect(await reasonOf(verifySignature(BODY, form, OTHER, { now }))).toBe("bad_signature");
  }
});
