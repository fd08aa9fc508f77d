// Common parts of fal's offers that are code: their default and conditions on jobs.
import type { Job } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Asset, Offer } from "../provider.ts";
import type { OfferSpec } from "../with-published-prices.ts";

type FalOfferSpec = Omit<OfferSpec, "recovery"> & { body(job: Job<Asset>): JsonObject };

/** fal accepts no idempotency key and has no job list, so only a callback resolves a lost submission. */
export const FAL_RECOVERY = "none";
export const falOffer = (offer: FalOfferSpec): OfferSpec => ({ recovery: FAL_RECOVERY, ...offer });

type SupportedJob = Parameters<NonNullable<Offer["supports"]>>[0];
const imageCount = ({ images = [] }: SupportedJob) => images.length;

export const hasImages = (job: SupportedJob) => imageCount(job) > 0;
export const hasNoImages = (job: SupportedJob) => imageCount(job) === 0;

export const option = ({ options = {} }: Job<Asset>, name: string): unknown => options[name];
