// Verifies Replicate's callbacks by Standard Webhooks: an HMAC over ID, time and body with a `whsec_` secret. During a
// rotation, a callback has one signature per secret.
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

type Signed = { headers: Headers; body: string };

export function isSigned({ headers, body }: Signed, secret: string, now: number): boolean {
  const id = headers.get("webhook-id");
  const time = headers.get("webhook-timestamp") ?? "";
  const signatures = headers.get("webhook-signature")?.split(" ") ?? [];
  if (!id || !/^\d+$/.test(time) || Math.abs(now / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length === 0) return false;
  const expected = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest();
  return signatures.some((each) => {
    const [version, signature = ""] = each.split(",");
    const given = Buffer.from(signature, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
