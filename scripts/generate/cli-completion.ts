// Generates the commands and flags that shells complete, from the commands of the CLI.
import {
  buildCompletionIndex,
  type CompletionIndex,
  type CompletionNode,
} from "../../cli/src/completion/completion-index.ts";
import { createFullProgram } from "../../cli/src/program.ts";

export async function generateCliCompletion(): Promise<string> {
  const index: CompletionIndex = buildCompletionIndex(await createFullProgram());
  const flags = index.flags.map((flag) => `    ${JSON.stringify(flag)}`).join(",\n");
  return `{\n  "flags": [\n${flags}\n  ],\n  "root": ${renderNode(index.root, "  ")}\n}\n`;
}

/** One line for each command, so that a change is easy to read. */
function renderNode({ commands, ...own }: CompletionNode, indent: string): string {
  const fields = JSON.stringify(own).slice(0, -1);
  if (!commands) return `${fields}}`;
  const lines = Object.entries(commands).map(
    ([name, node]) => `${indent}  ${JSON.stringify(name)}: ${renderNode(node, `${indent}  `)}`,
  );
  return `${fields},"commands":{\n${lines.join(",\n")}\n${indent}}}`;
}
