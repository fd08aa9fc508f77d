// The schedule of a delivery, to the second, and what each answer means.
import { v7 } from "uuid";
import { describe, expect, it } from "vitest";
import { decideDelivery, maxAttempts, RETRY_DELAYS_SECONDS, retryDelaySeconds } from "./retry-schedule.ts";

const about = (tried: number, type = "run.completed") => ({ deliveryId: v7(), type, tried, now: Date.now() });

describe("the schedule", () => {
  it("has ten attempts over 75 hours, 35 minutes and 5 seconds", () => {
    expect(RETRY_DELAYS_SECONDS).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(RETRY_DELAYS_SECONDS.reduce((sum, wait) => sum + wait, 0)).toBe(75 * 3600 + 35 * 60 + 5);
    expect(maxAttempts("run.completed")).toBe(10);
  });

  it("is drawn out by at most a tenth, always the same for the same message", () => {
    const shares: number[] = [];
    for (let n = 0; n < 500; n++) {
      const id = v7();
      for (let tried = 1; tried < 10; tried++) {
        const wait = retryDelaySeconds(tried, id)!;
        expect(wait).toBe(retryDelaySeconds(tried, id));
        expect(wait).toBeGreaterThanOrEqual(RETRY_DELAYS_SECONDS[tried]!);
        expect(wait).toBeLessThanOrEqual(RETRY_DELAYS_SECONDS[tried]! * 1.1);
        shares.push(wait / RETRY_DELAYS_SECONDS[tried]! - 1);
      }
    }
    expect(Math.min(...shares)).toBeLessThan(0.005);
    expect(Math.max(...shares)).toBeGreaterThan(0.095);
    expect(retryDelaySeconds(10, v7())).toBeUndefined();
  });

  it("tries what is only of the moment once", () => {
    for (const type of ["run.processing", "run.progress", "webhook.test"]) {
      expect(decideDelivery({ status: 500 }, about(1, type))).toEqual({ status: "exhausted" });
    }
  });
});

describe("an answer", () => {
  it.each([200, 201, 202, 204, 299])("of %i is an arrival", (status) => {
    expect(decideDelivery({ status }, about(1))).toEqual({ status: "delivered" });
  });

  it.each([301, 302, 304, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504])(
    "of %i is tried again",
    (status) => {
      expect(decideDelivery({ status }, about(1))).toMatchObject({
        status: "pending",
        waitSeconds: expect.closeTo(5.25, 0),
      });
      expect(decideDelivery({ status }, about(10))).toEqual({ status: "exhausted" });
    },
  );

  it.each(["timeout", "connection", "tls", "name"])("that does not come (%s) is tried again", (error) => {
    expect(decideDelivery({ error }, about(3))).toMatchObject({ status: "pending" });
  });

  it("of 410 ends it, and so does an address that may not be written to", () => {
    expect(decideDelivery({ status: 410 }, about(1))).toEqual({ status: "disabled", reason: "gone" });
    expect(decideDelivery({ error: "webhook_url_not_allowed" }, about(1))).toEqual({
      status: "disabled",
      reason: "not_allowed",
    });
  });

  it("of 429 or 503 may say how long to wait: never shorter than planned, and never longer than a day", () => {
    const now = Date.UTC(2026, 0, 1);
    const waits = (status: number, retryAfter: string) => {
      const verdict = decideDelivery({ status, retryAfter }, { ...about(1), now });
      return "waitSeconds" in verdict ? verdict.waitSeconds : undefined;
    };
    expect(waits(429, "120")).toBe(120);
    expect(waits(503, new Date(now + 90_000).toUTCString())).toBe(90);
    expect(waits(429, "1")).toBeCloseTo(5.25, 0);
    expect(waits(503, "9999999")).toBe(86_400);
    for (const nonsense of ["soon", "-5", ""]) expect(waits(429, nonsense)).toBeCloseTo(5.25, 0);
    expect(waits(500, "120")).toBeCloseTo(5.25, 0);
  });
});
