// What the signature in the URL of an export is bound to.
import { cursorScope } from "./cursors.ts";

export const exportScope = (tenantId: string): string => cursorScope("tenant-export", tenantId);
