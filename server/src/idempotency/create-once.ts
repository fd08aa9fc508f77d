// Idempotent creation: a request that repeats an earlier one with the same idempotency key returns the resource of the
// earlier request (a replay) and creates nothing.
import type { Database } from "../db/connect.ts";
import { findIdempotencyKey, type NewIdempotencyKey } from "../db/idempotency-keys.ts";
import type { ResourceKind } from "../db/typed-columns.ts";
import { Fault, type FaultCode } from "../faults/faults.ts";
import { type IdempotencyCaller, identifyCaller } from "./caller-id.ts";
import { fingerprintRequest } from "./fingerprint.ts";

export type IdempotencyContext = {
  database: Database;
  /** A key belongs to the caller: no other one of the tenant finds what it stands for. */
  caller: IdempotencyCaller & { tenant_id: string };
  idempotencyKey: string | undefined;
  onReplay?(): void;
};

export type IdempotentRequest<Resource> = {
  operation: string;
  kind: ResourceKind;
  input: Readonly<Record<string, unknown>>;
  /** Reads the resource of an earlier request in its current state. May throw a fault of its own. */
  find(resourceId: string): Promise<Resource | undefined>;
  /** The fault of a replay if `find` returns undefined. Default: `idempotency_in_progress`. */
  missingFault?: FaultCode;
};

export type IdempotentCreation<Resource> = IdempotentRequest<Resource> & {
  /** Inserts the resource and the key in one statement. Returns undefined if it inserts nothing. */
  create(idempotency: NewIdempotencyKey | undefined): Promise<Resource | undefined>;
  /** Why `create` inserted nothing although the key is free. Default: `idempotency_in_progress`. */
  explainRefusal?(): Fault | Promise<Fault>;
};

/**
 * Looks for a replay before the creation, so that a replay costs nothing, and again if the creation inserted nothing,
 * because a concurrent request may have taken the key.
 */
export async function createOnce<Resource>(
  context: IdempotencyContext,
  creation: IdempotentCreation<Resource>,
): Promise<Resource> {
  const { idempotency, findReplay } = identifyRequest(context, creation);
  const resource = (await findReplay()) ?? (await creation.create(idempotency)) ?? (await findReplay());
  if (resource !== undefined) return resource;
  throw (await creation.explainRefusal?.()) ?? new Fault("idempotency_in_progress");
}

/** `findReplay` returns undefined if the request has no key or the key is free, and throws if the key is taken. */
export function identifyRequest<Resource>(
  { database, caller, idempotencyKey: key, onReplay }: IdempotencyContext,
  { operation, kind, input, find, missingFault }: IdempotentRequest<Resource>,
): { idempotency: NewIdempotencyKey | undefined; findReplay(): Promise<Resource | undefined> } {
  if (key === undefined) return { idempotency: undefined, findReplay: async () => undefined };
  const fingerprint = fingerprintRequest(operation, input);
  const caller_id = identifyCaller(caller);
  const owner = { tenant_id: caller.tenant_id, caller_id };
  const findReplay = async () => {
    const storedKey = await findIdempotencyKey(database, owner, key);
    if (!storedKey) return undefined;
    if (storedKey.resource_kind !== kind || !storedKey.fingerprint.equals(fingerprint))
      throw new Fault("idempotency_key_reused");
    const resource = await find(storedKey.resource_id);
    if (resource === undefined && !missingFault) throw new Fault("idempotency_in_progress");
    onReplay?.();
    if (resource === undefined) throw new Fault(missingFault!);
    return resource;
  };
  return { idempotency: { key, fingerprint, caller_id }, findReplay };
}
