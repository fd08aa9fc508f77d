// Declares an operation that creates no run: its schema, its contract and its handler are one value. The handler names
// what it uses by the type of its last parameter; the composition must provide what all handlers name together.
import type { z } from "zod";
import type { RequestContext } from "../access/request-context.ts";
import type { Operation, OperationSpec } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";

export type QueryOperation<Needs = never, Output = unknown> = Omit<Operation, "handle"> & {
  handle(input: JsonObject, request: RequestContext, services: Needs): Promise<Output>;
};

/** `services.database` is the one of the request: scoped to the caller, except for operations of the operator. */
export const defineQuery = <Input extends z.ZodObject, Output extends z.ZodType, Needs = unknown>(
  spec: OperationSpec<Input, Output> & {
    handle(input: z.output<Input>, request: RequestContext, services: Needs): Promise<z.output<Output>>;
  },
): QueryOperation<Needs, z.output<Output>> => spec as unknown as QueryOperation<Needs, z.output<Output>>;

type Provided<T> = T extends QueryOperation<infer Needs> ? (needs: Needs) => void : never;

/** What the handlers of these operations use together. */
export type AllNeeds<T> = Provided<T> extends (needs: infer All) => void ? All : never;
