// Finds the IDs of conformance statements that a test file tests. Only the title of a test that runs carries IDs, in
// brackets; where the title has `[%s]`, the first column of its table does.
import { listDeclaredTests } from "./test-titles.ts";

const TEST = /^(it|test|itOverHttpAndClient)(\.each)?$/;

export const statementIdsIn = (text: string): string[] =>
  listDeclaredTests(text)
    .filter(({ declaredBy }) => TEST.test(declaredBy))
    .flatMap(({ title, table }) => [
      ...title.matchAll(/\[([A-Z]{3}-\d{3})\]/g),
      ...(title.includes("[%s]") ? table.matchAll(/\[\s*"([A-Z]{3}-\d{3})"/g) : []),
    ])
    .map(([, id]) => id!);
