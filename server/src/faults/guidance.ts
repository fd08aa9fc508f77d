// For each error code: when it happens and how to fix it. The reference page of errors is generated from these texts.
import type { FaultCode, FaultGuidance } from "./codes.ts";
import { requestGuidance } from "./request-guidance.ts";
import { runGuidance } from "./run-guidance.ts";

export const faultGuidance: Record<FaultCode, FaultGuidance> = { ...requestGuidance, ...runGuidance };
