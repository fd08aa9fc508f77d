// Generates the types of events: a union that TypeScript narrows by `type`.
import { type Contract, type Schema, toPascalCase } from "./client-operations.ts";
import { objectType } from "./client-responses.ts";

const RUN_EVENT = "RunEvent";
const typeNameOf = (type: string) => (type.startsWith("run.") ? RUN_EVENT : `${toPascalCase(type)}Event`);

/** The members of the union `Event`. */
export const eventTypeNames = (contract: Contract): string[] => [
  ...new Set(Object.keys(contract["x-events"]).map(typeNameOf)),
];

export function generateEventTypes(contract: Contract): string {
  const byName = Map.groupBy(Object.entries(contract["x-events"]), ([type]) => typeNameOf(type));
  const head = {
    ...contract.components.schemas.Event!,
    properties: { ...contract.components.schemas.Event!.properties },
  };
  delete head.properties.type;
  delete head.properties.data;
  const members = [...byName].map(([name, entries]) => {
    const types = entries.map(([type]) => JSON.stringify(type)).join(" | ");
    const data: Schema = entries[0]![1];
    const description = name === RUN_EVENT ? "An event of a run." : `The event \`${entries[0]![0]}\`.`;
    return `/** ${description} */\nexport type ${name} = EventHead & {\n  type: ${types};\n  data: ${objectType(data, "answered").replaceAll("\n", "\n  ")};\n};`;
  });
  return [
    `/** What every event has. */\nexport type EventHead = ${objectType(head, "answered")};`,
    ...members,
    `/** An event. \`type\` tells which data it has. A newer server can send other types: ignore them. */\nexport type Event = ${eventTypeNames(contract).join(" | ")};`,
  ].join("\n\n");
}
