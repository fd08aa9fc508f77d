import { expect, it } from "vitest";
import { type ReadyInfo, renderReady } from "./ready-output.ts";

const LIMITS = { spend_per_hour: null, spend_per_day: null, spend_per_month: 5 } as unknown as ReadyInfo["limits"];

it("fits a terminal of 80 columns, so that no key and no link is broken", () => {
  const url = "http://127.0.0.1:17788";
  const info: ReadyInfo = {
    gesso: { url, key: `gsk_${"k".repeat(46)}`, dataDir: "/home/ada/images/.gesso" } as ReadyInfo["gesso"],
    providers: [
      { id: "sandbox", ready: true, offline: true, missing_settings: [], offers: [] },
    ] as unknown as ReadyInfo["providers"],
    limits: LIMITS,
    unusedKeys: [
      { id: "fal", settings: ["FAL_KEY"] },
      { id: "openai", settings: ["OPENAI_API_KEY"] },
    ],
    readySeconds: 3.2,
    ephemeral: false,
    consoleUrl: `${url}/console#in=${"c".repeat(43)}`,
  };
  const lines = renderReady(info).split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines).toContain(`  ${info.consoleUrl}`);
});
