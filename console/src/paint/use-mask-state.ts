// What a component shows about the mask. It renders again after each finished change, not during a stroke.
import { useSyncExternalStore } from "react";
import type { MaskDocument, MaskState } from "./mask-document.ts";

export const useMaskState = ({ subscribeState, state }: MaskDocument): MaskState =>
  useSyncExternalStore(subscribeState, state);
