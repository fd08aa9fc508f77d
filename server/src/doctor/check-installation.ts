// The checks of `gesso doctor` inside a running server, for operators. They read whole tables and ask providers, so
// concurrent requests share one check, and its result is kept for CACHE_MS.

import type { SystemChecks } from "../contract/schemas/system.ts";
import type { Clock } from "../runtime/clock.ts";
import { VERSION } from "../runtime/version.ts";
import { diagnose, type Installation } from "./doctor.ts";
import type { DoctorCheck, DoctorReport } from "./report.ts";

const CACHE_MS = 10_000;

type Dependencies = {
  clock: Clock;
  /** Default: the doctor. */
  check?: (installation: Installation, clock: Clock) => Promise<DoctorReport>;
};

export function createInstallationCheck(installation: Installation, { clock, check = diagnose }: Dependencies) {
  const started_at = new Date(clock.now()).toISOString();
  let latest: { at: number; checks: Promise<SystemChecks> } | undefined;
  const run = async (): Promise<SystemChecks> => {
    const { ok, checks, providers } = await check(installation, clock);
    return {
      ...{ version: VERSION, started_at, checked_at: new Date(clock.now()).toISOString(), ok },
      checks: checks.map(renderCheck),
      providers: providers.map(({ key, known, unasked, missing, notAsked: _, prices, ...rest }) => ({
        ...{ ...renderCheck(rest), key, known, unasked, missing: missing.map(({ as }) => as), prices },
      })),
    };
  };
  return (): Promise<SystemChecks> => {
    if (!latest || clock.now() - latest.at >= CACHE_MS) {
      latest = { at: clock.now(), checks: run() };
      // A check that failed is not kept.
      latest.checks.catch(() => {
        latest = undefined;
      });
    }
    return latest.checks;
  };
}

const renderCheck = ({ name, status, message, fix = undefined }: DoctorCheck) => ({
  ...{ name, status, message, fix: fix ?? null },
});
