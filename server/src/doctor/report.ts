// What the doctor found, for people and for programs alike.
import type { Task } from "../kit/operation.ts";

/** `skip`: there is nothing to look at, which is no failure. */
export type CheckStatus = "pass" | "warn" | "fail" | "skip";

/** `fix` is what to do about it. */
export type DoctorCheck = { name: string; status: CheckStatus; message: string; fix?: string };

export type ProviderCheck = DoctorCheck & {
  /** `none`: it needs no key. `unasked`: it has no free question by which a key could be tried. */
  key: "works" | "refused" | "unasked" | "none" | "off" | "unknown";
  /** Upstream names of our offers: how many it knows, cannot be asked about, and no longer has. */
  known: number;
  unasked: number;
  missing: { as: string; models: string[] }[];
};

/** A model that callers may name and nobody offers; `by` are the providers that would, if they were on. */
export type UnofferedModel = { task: Task; model: string; by: string[] };

export type DoctorReport = {
  ok: boolean;
  checks: DoctorCheck[];
  providers: ProviderCheck[];
  unoffered: UnofferedModel[];
};
