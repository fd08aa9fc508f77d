// All operations as an array, for code that iterates over them.
import type { Operation } from "../kit/operation.ts";
import * as listed from "./index.ts";
import { editForOpenAi } from "./openai/edit.ts";
import { generateForOpenAi } from "./openai/generate.ts";

/** The operations of the public contract. */
export const operations: Operation[] = Object.values(listed);

/** Operations whose runs exist, but which only the OpenAI-compatible API creates. */
const unlistedOperations = [editForOpenAi, generateForOpenAi];

export const findOperation = (name: string): Operation | undefined =>
  [...operations, ...unlistedOperations].find((each) => each.name === name || each.aliases?.includes(name));
