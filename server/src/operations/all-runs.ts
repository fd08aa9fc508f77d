// All operations that create runs as an array. Like their registry, it is pure.
import type { Operation } from "../contract/operation.ts";
import { editForOpenAi } from "./openai/edit.ts";
import { generateForOpenAi } from "./openai/generate.ts";
import * as listed from "./run-index.ts";

/** The ones of the public contract. */
export const runOperations: Operation[] = Object.values(listed);

/** Operations whose runs exist, but which only the OpenAI-compatible API creates. */
export const unlistedOperations: Operation[] = [editForOpenAi, generateForOpenAi];

export const findRunOperation = (name: string): Operation | undefined =>
  findByName([...runOperations, ...unlistedOperations], name);

export const findByName = (operations: readonly Operation[], name: string): Operation | undefined =>
  operations.find((each) => each.name === name || each.aliases?.includes(name));
