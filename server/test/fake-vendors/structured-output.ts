// The response of a language model with a schema: data of that shape, whose text contains the prompt.

export type JsonSchema = {
  type: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: boolean;
};

/** A value that fits the schema, whose text contains its origin. */
export const instanceOfSchema = ({ type, properties = {}, items }: JsonSchema, text: string): unknown => {
  if (type === "array") return [instanceOfSchema(items!, `${text} 1`), instanceOfSchema(items!, `${text} 2`)];
  if (type !== "object") return text;
  return Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [name, instanceOfSchema(shape, `${name}: ${text}`)]),
  );
};
