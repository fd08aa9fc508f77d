import { expect, it } from "vitest";
import { eventsUrl, isRunEvent } from "./live-stream.ts";

it("asks for events of runs only, after the last one that was seen", () => {
  const query = new URL(eventsUrl("00000000-7"), "http://127.0.0.1").searchParams;
  expect(JSON.parse(query.get("types") ?? "")).toContain("run.completed");
  expect(query.get("after")).toBe("00000000-7");
  expect(new URL(eventsUrl(undefined), "http://127.0.0.1").searchParams.has("after")).toBe(false);
});

it("tells events of runs from others", () => {
  const event = { event_id: "e", timestamp: "t", type: "webhook.test", data: { webhook_id: "w" } } as const;
  expect(isRunEvent(event)).toBe(false);
});
