import { expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createInstallationCheck } from "./check-installation.ts";
import type { Installation } from "./doctor.ts";
import type { DoctorReport } from "./report.ts";

const installation = {} as Installation;
const report: DoctorReport = {
  ok: false,
  checks: [{ name: "ledger", status: "fail", message: "1 violation", fix: "back up" }],
  providers: [
    {
      ...{ name: "acme", status: "pass", message: "fine", key: "works", known: 2, unasked: 0 },
      ...{ prices: [], notAsked: [] },
      missing: [{ as: "old", models: ["flux-dev"] }],
    },
  ],
  unoffered: [],
};

it("runs the checks once for concurrent requests and keeps the result for 10 s", async () => {
  const clock = createManualClock();
  let count = 0;
  const check = createInstallationCheck(installation, {
    clock,
    check: async () => {
      count++;
      return report;
    },
  });
  const [first, second] = await Promise.all([check(), check()]);
  expect([count, first === second]).toEqual([1, true]);
  expect(first).toMatchObject({
    ...{ ok: false, checks: [{ name: "ledger", fix: "back up" }] },
    providers: [{ name: "acme", missing: ["old"], fix: null }],
  });
  clock.at = 9_999;
  await check();
  expect(count).toBe(1);
  clock.at = 10_000;
  await check();
  expect(count).toBe(2);
});

it("does not keep a check that failed", async () => {
  let isBroken = true;
  const check = createInstallationCheck(installation, {
    clock: createManualClock(),
    check: () => (isBroken ? Promise.reject(new Error("no memory")) : Promise.resolve(report)),
  });
  await expect(check()).rejects.toThrow("no memory");
  isBroken = false;
  expect(await check()).toMatchObject({ ok: false });
});

it("warns of a proxy that forwards requests and is not named, and says nothing before one was seen", async () => {
  let proxy: string | undefined;
  const nothing: Installation = {
    ...{ settings: undefined, isServer: true, missing: [], enabledProviders: [], disabledProviders: [] },
    ...{ catalogue: { path: "gesso.yaml", exists: false, problems: [] }, findUnnamedProxy: () => proxy },
  };
  const clock = createManualClock();
  const check = createInstallationCheck(nothing, { clock });
  const findWarning = async () => (await check()).checks.find(({ name }) => name === "proxies");
  expect(await findWarning()).toBeUndefined();
  proxy = "172.19.0.1";
  clock.at = 10_000;
  expect(await findWarning()).toMatchObject({ status: "warn", fix: "add 172.19.0.1 to TRUSTED_PROXIES" });
});
