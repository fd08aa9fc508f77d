// All operations as an array, for code that iterates over them.
import type { Operation } from "../kit/operation.ts";
import * as listed from "./index.ts";

export const operations: Operation[] = Object.values(listed);

export const findOperation = (name: string): Operation | undefined =>
  operations.find((each) => each.name === name || each.aliases?.includes(name));
