// Message bodies: complete if they fit, and otherwise truncated with a marker.
import { describe, expect, it } from "vitest";
import { renderMessageBody } from "./message-body.ts";

const event = (data: Record<string, unknown>) => ({
  type: "run.completed",
  timestamp: "2026-01-01T00:00:00.000Z",
  data,
});
const sizeOf = (text: string) => Buffer.byteLength(text);

describe("a body", () => {
  it("holds everything where that is at most 20 kB", () => {
    const data = { run_id: "x", metadata: { note: "é".repeat(4000) }, outputs: [], warnings: ["one"] };
    expect(JSON.parse(renderMessageBody(event(data)))).toEqual(event(data));
  });

  it("is cut to 20 kB, first in its metadata, and says so", () => {
    const data = { run_id: "x", metadata: { note: "é".repeat(11_000) }, outputs: [1], warnings: ["one"] };
    const body = renderMessageBody(event(data));
    expect(sizeOf(body)).toBeLessThanOrEqual(20_000);
    expect(JSON.parse(body).data).toEqual({ ...data, metadata: {}, metadata_truncated: true });
  });

  it("is cut further where that is not enough", () => {
    const outputs = Array.from({ length: 200 }, (_, n) => ({ url: `https://example.com/${n}/${"x".repeat(200)}` }));
    const body = renderMessageBody(
      event({ run_id: "x", metadata: { a: 1 }, outputs, warnings: Array(50).fill("w".repeat(100)) }),
    );
    expect(sizeOf(body)).toBeLessThanOrEqual(20_000);
    expect(JSON.parse(body).data).toMatchObject({
      metadata_truncated: true,
      warnings_truncated: true,
      outputs_truncated: true,
    });
    expect(JSON.parse(body).data.outputs).toHaveLength(10);
  });
});
