// What the operator of a server does with the key of a provider, as lines for a terminal. The steps are generated from
// the server, so that the console shows the same.
import type { ListedProvider } from "@gesso/dev/providers/provider-list";

export const renderProductionSteps = ({ server_setup }: ListedProvider): string[] => [
  "",
  "Nothing was saved. On the server, put the key where its other secrets are.",
  ...server_setup.flatMap(({ platform, where, steps }) => [
    "",
    `${platform}, ${where}:`,
    ...steps.flatMap(({ file, lines }) => [
      "",
      ...(file === null ? indent(lines, 2) : [`  ${file}:`, "", ...indent(lines, 4)]),
    ]),
  ]),
];

const indent = (lines: string, spaces: number): string[] =>
  lines.split("\n").map((line) => `${" ".repeat(spaces)}${line}`);
