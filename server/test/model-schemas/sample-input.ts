// Makes an input that fits a normalized schema: with every property, or with the required ones only.

type Schema = Record<string, unknown>;

const MAX_LEVELS = 12;

/** An even `variant` has all properties and the first alternatives, an odd one the required ones and the last. */
export function sampleInput(root: Schema, variant: number): Schema {
  const isSmall = variant % 2 === 1;

  const sample = (schema: Schema, level: number): unknown => {
    if (level > MAX_LEVELS) return undefined;
    if (typeof schema.$ref === "string") {
      const definitions = root.$defs as Record<string, Schema>;
      return sample(definitions[schema.$ref.slice("#/$defs/".length)]!, level + 1);
    }
    const values = schema.enum as unknown[] | undefined;
    if (values) return values.at(isSmall ? -1 : 0);
    const forms = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
    if (forms) return sample(forms.at(isSmall ? -1 : 0)!, level + 1);
    const [type] = [schema.type].flat();
    switch (type) {
      case "object":
        return sampleObject(schema, level);
      case "array":
        return [sample(schema.items as Schema, level + 1)].filter((each) => each !== undefined);
      case "string":
        return "a boat lands";
      case "number":
      case "integer":
        return 2;
      case "boolean":
        return true;
      case "null":
        return null;
      default:
        return "anything";
    }
  };

  const sampleObject = (schema: Schema, level: number): Schema => {
    const required = (schema.required as string[] | undefined) ?? [];
    const fields = Object.entries((schema.properties as Record<string, Schema> | undefined) ?? {});
    const wanted = fields.filter(([name]) => !isSmall || required.includes(name));
    const sampled = wanted.map(([name, field]) => [name, sample(field, level + 1)] as const);
    return Object.fromEntries(sampled.filter(([, value]) => value !== undefined));
  };

  return sample(root, 0) as Schema;
}
