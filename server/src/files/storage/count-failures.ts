// Reports each failed operation on the storage. A fault of the caller, such as a file that is too large, is no failure.
import { Fault } from "../../faults/faults.ts";
import type { ObjectStorage } from "./object-storage.ts";

const COUNTED = ["put", "putStream", "get", "bytes", "head", "delete"] as const;
type CountedOperation = (typeof COUNTED)[number];

const FAILURES = new Set(["storage_failed", "asset_unavailable", "dependency_unavailable"]);
const isFailureOfStorage = (thrown: unknown) => thrown instanceof Fault && FAILURES.has(thrown.code);

export function countFailures<Storage extends ObjectStorage>(
  storage: Storage,
  onFailure: (operation: CountedOperation) => void,
): Storage {
  const counted = Object.fromEntries(
    COUNTED.map((operation) => [
      operation,
      async (...parameters: unknown[]) => {
        try {
          return await (storage[operation] as (...given: unknown[]) => Promise<unknown>)(...parameters);
        } catch (thrown) {
          if (isFailureOfStorage(thrown)) onFailure(operation);
          throw thrown;
        }
      },
    ]),
  );
  return { ...storage, ...counted };
}
