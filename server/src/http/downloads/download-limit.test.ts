import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { createDownloadLimit } from "./download-limit.ts";

it("refuses a client's downloads above the limit until one of them has ended", () => {
  const limit = createDownloadLimit((incoming) => String(incoming), 2);
  const download = (address: string) => {
    const outgoing = new EventEmitter();
    limit({ env: { incoming: address, outgoing } } as never);
    return outgoing;
  };
  const [first] = [download("a"), download("a")];
  expect(() => download("a")).toThrow(expect.objectContaining({ code: "rate_limited" }));
  download("b");
  first!.emit("close");
  download("a");
  expect(() => download("a")).toThrow(expect.objectContaining({ code: "rate_limited" }));
});
