// The operations of the API as the CLI needs them, generated from the contract.
import generated from "./generated/operations.json" with { type: "json" };

export type OperationField = {
  name: string;
  type: "text" | "integer" | "number" | "boolean" | "choice" | "image" | "file" | "run" | "object";
  description?: string;
  isRequired?: boolean;
  isList?: boolean;
  isNullable?: boolean;
  isDeprecated?: boolean;
  options?: (string | number)[];
  /** Other values than the options are valid too. */
  isOpen?: boolean;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  /** Of an image: a URL only, neither base64 nor a run. */
  isUrl?: boolean;
  /** Of an image: the fields that take a local file and a run instead. */
  fileField?: string;
  runField?: string;
  /** Of a file: the field that takes a URL or a run instead. */
  imageField?: string;
  /** Of a list of objects: the property with the image and the one with its name. */
  imageProperty?: string;
  nameProperty?: string;
};

export type CliOperation = {
  name: string;
  /** `run` creates a run, `query` reads, `change` does everything else. */
  kind: "run" | "query" | "change";
  summary: string;
  method: string;
  path: string;
  pathFields?: string[];
  /** Whether `runs.estimate` knows the operation. */
  hasEstimate?: boolean;
  /** Whether the request can contain files. Otherwise they are uploaded first. */
  takesFiles?: boolean;
  isStream?: boolean;
  /** Parts of a result that is not a file, the most important one first. */
  resultFields?: string[];
  rules?: string[];
  example?: Record<string, unknown>;
  fields: OperationField[];
};

const RUN_FIELDS = generated.runFields as OperationField[];

export const OPERATIONS: CliOperation[] = Object.entries(
  generated.operations as unknown as Record<string, Omit<CliOperation, "name"> & { hasRunFields?: boolean }>,
).map(([name, { hasRunFields, ...operation }]) => ({
  ...operation,
  name,
  fields: hasRunFields ? [...operation.fields, ...RUN_FIELDS] : operation.fields,
}));

export const findCliOperation = (name: string): CliOperation | undefined =>
  OPERATIONS.find((operation) => operation.name === name);

/** The field that an image on the command line is for: an image, or else a run. */
export const mainImageField = ({ fields }: CliOperation): OperationField | undefined =>
  fields.find(({ type, isList }) => type === "image" && !isList) ??
  fields.find(({ type, isList }) => type === "run" && !isList);
