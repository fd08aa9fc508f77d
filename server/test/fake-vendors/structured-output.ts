// The response of a language model with a schema: data of that shape, whose text contains the prompt.

export type JsonSchema = {
  type: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: boolean;
};

/** A value that fits the schema, whose text contains its origin. */
export const instanceOfSchema = ({ type, properties = {}, items }: JsonSchema, words: string): unknown => {
  if (type === "array") return [instanceOfSchema(items!, `${words} 1`), instanceOfSchema(items!, `${words} 2`)];
  if (type !== "object") return words;
  return Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [name, instanceOfSchema(shape, `${name}: ${words}`)]),
  );
};
