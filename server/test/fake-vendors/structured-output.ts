// What a language model answers that is held to a schema: something of that shape, in words that tell what it was asked.

export type JsonSchema = {
  type: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: boolean;
};

/** An answer that fits the schema, in words that tell where they came from. */
export const instanceOfSchema = ({ type, properties = {}, items }: JsonSchema, words: string): unknown => {
  if (type === "array") return [instanceOfSchema(items!, `${words} 1`), instanceOfSchema(items!, `${words} 2`)];
  if (type !== "object") return words;
  return Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [name, instanceOfSchema(shape, `${name}: ${words}`)]),
  );
};
