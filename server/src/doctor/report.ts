// The report of `gesso doctor`, rendered as text or printed as JSON.
import type { Task } from "../contract/operation.ts";
import type { PriceUnit } from "../prices/price.ts";

/** `skip`: there is nothing to check. This is not a failure. */
export type CheckStatus = "pass" | "warn" | "fail" | "skip";

/** `fix`: what the operator can do about a failure. */
export type DoctorCheck = { name: string; status: CheckStatus; message: string; fix?: string };

export type ProviderCheck = DoctorCheck & {
  /** `none`: the provider needs no key. `unasked`: it has no free request that could test the key. */
  key: "works" | "refused" | "unasked" | "none" | "off" | "unknown";
  /**
   * Number of upstream models that the provider has, and that it cannot be asked about; `missing`: those it does not
   * have.
   */
  known: number;
  unasked: number;
  missing: { as: string; models: string[] }[];
  /** Upstream models that the provider cannot be asked about. */
  notAsked: string[];
  /** Models whose price is another one at the provider today. */
  prices: OtherPrice[];
  /** Each upstream model, with `--live`. */
  models?: ModelCheck[];
};

/**
 * `listed`: whether the provider lists the model for this key. `schema`: whether the document that the provider
 * publishes today takes our requests; `problem` says why it does not.
 */
export type ModelCheck = {
  as: string;
  listed: "yes" | "no" | "unasked";
  schema: "fits" | "changed" | "unread" | "unpublished";
  problem?: string | undefined;
};

/** In US dollars for one unit. */
export type OtherPrice = { as: string; unit: PriceUnit; here: number; there: number };

/** A model that requests can name and no enabled provider offers. `by`: disabled providers that offer it. */
export type UnofferedModel = { task: Task; model: string; by: string[] };

export type DoctorReport = {
  ok: boolean;
  checks: DoctorCheck[];
  providers: ProviderCheck[];
  unoffered: UnofferedModel[];
};
