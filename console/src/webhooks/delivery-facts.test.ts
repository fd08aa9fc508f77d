import { expect, it } from "vitest";
import { curlCommand, deliveredShare, toneOf } from "./delivery-facts.ts";
import { endpointName } from "./endpoint-name.ts";
import { splitJson } from "./json-parts.ts";

it("counts only finished deliveries as arrived or not", () => {
  const of = (...statuses: ("delivered" | "exhausted" | "pending")[]) =>
    deliveredShare(statuses.map((status) => ({ status })));
  expect(of("pending")).toBeUndefined();
  expect(of("delivered", "delivered", "exhausted", "pending")).toBeCloseTo(2 / 3);
});

it("shows a delivery that waits for a retry as failing, and one that waits for its first attempt as waiting", () => {
  expect(toneOf({ status: "pending", attempts: 0 })).toBe("wait");
  expect(toneOf({ status: "pending", attempts: 2 })).toBe("bad");
  expect(toneOf({ status: "delivered", attempts: 2 })).toBe("ok");
});

it("writes a command whose body is the same bytes, whatever quotes it has", () => {
  const body = `{"prompt":"a fox's den $(rm) \\"x\\""}`;
  const command = curlCommand({ url: "https://example.com/a", event_id: "evt_1", body });
  expect(command).toContain(`--data-binary '{"prompt":"a fox'\\''s den $(rm) \\"x\\""}'`);
});

it("names an endpoint by host and path", () => {
  expect(endpointName("https://app.example.com/hooks?x=1")).toBe("app.example.com/hooks");
  expect(endpointName("https://app.example.com/")).toBe("app.example.com");
});

it("marks keys and texts of a body and changes no character of it", () => {
  const body = `{"type":"run.failed", "n": 1.50,\n "a":["<b>\\"x\\"</b>", null]}  `;
  const parts = splitJson(body);
  expect(parts.map(({ text }) => text).join("")).toBe(body);
  expect(parts.filter(({ kind }) => kind === "key").map(({ text }) => text)).toEqual(['"type"', '"n"', '"a"']);
  expect(
    splitJson("not json")
      .map(({ text }) => text)
      .join(""),
  ).toBe("not json");
});
