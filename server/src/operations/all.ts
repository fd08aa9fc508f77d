// All operations as an array, for code that iterates over them.
import type { Operation } from "../contract/operation.ts";
import { findByName, unlistedOperations } from "./all-runs.ts";
import type { AllNeeds } from "./define-query.ts";
import * as listed from "./index.ts";

/** The operations of the public contract. */
export const operations: Operation[] = Object.values(listed);

/** What the handlers of all operations use. */
export type QueryServices = AllNeeds<(typeof listed)[keyof typeof listed]>;

export const findOperation = (name: string): Operation | undefined =>
  findByName([...operations, ...unlistedOperations], name);
