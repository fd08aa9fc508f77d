// Calls the client's method of an operation by its name.
import type { Call, CallOptions, Client } from "@gesso/client";
import type { OperationInput } from "./build-input.ts";
import type { CliOperation } from "./operations.ts";

type Method = (...parameters: unknown[]) => Call<Record<string, unknown>>;

/** The client takes the ID of the path first, then the other fields if there are any, and the options last. */
export function callOperation(
  client: Client,
  { name, pathFields, fields }: CliOperation,
  input: OperationInput,
  options: CallOptions = {},
): Call<Record<string, unknown>> {
  let method: unknown = client;
  for (const word of name.split(".")) method = (method as Record<string, unknown>)[word];
  const [id] = pathFields ?? [];
  if (id === undefined) return fields.length > 0 ? (method as Method)(input, options) : (method as Method)(options);
  const { [id]: value, ...rest } = input;
  return fields.length > 1 ? (method as Method)(value, rest, options) : (method as Method)(value, options);
}
