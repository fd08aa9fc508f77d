// `gesso __complete`: prints the candidates for the last word of a command line, one per line with a tab before its
// description. `:files` asks the shell to add files. An error prints nothing, because it would damage the prompt.
import generated from "../generated/completion.json" with { type: "json" };
import type {
  Candidate,
  CompletionFlag,
  CompletionIndex,
  CompletionNode,
  CompletionValue,
} from "./completion-index.ts";

const FILES = ":files";
const HELP: CompletionFlag = { names: ["--help"], description: "Show the options" };
/** Finds values that only the server or a file knows. `flags` are those of the command line that is completed. */
type FindLiveValues = (kind: string, flags: Record<string, string>) => Promise<Candidate[]>;

/** Without a terminal of its own, PowerShell cannot pass an empty word: `--new-word` stands for it. */
export async function printCandidates(parameters: string[]): Promise<void> {
  const end = parameters.indexOf("--");
  const words = end === -1 ? parameters : parameters.slice(end + 1);
  if (parameters.slice(0, end).includes("--new-word")) words.push("");
  try {
    const find: FindLiveValues = async (...request) =>
      (await import("./live-values.ts")).findLiveValues(...request).catch(() => []);
    const candidates = await complete(generated as CompletionIndex, words, find);
    process.stdout.write(candidates.map(renderCandidate).join(""));
  } catch {
    process.exitCode = 1;
  }
}

const renderCandidate = ({ value, description }: Candidate) =>
  `${value}${description === "" ? "" : `\t${description.replace(/[\p{C}\s]+/gu, " ")}`}\n`;

async function complete(
  index: CompletionIndex,
  words: readonly string[],
  findLive: FindLiveValues,
): Promise<Candidate[]> {
  const current = words.at(-1) ?? "";
  const line = readLine(index, words.slice(0, -1));
  const list = async (value: CompletionValue, text: string, prefix = "") => {
    const found = await listValues(value, () => findLive(String(value), line.values));
    return filterByPrefix(found, text, prefix);
  };
  if (line.openFlag) return list(line.openFlag.value ?? "text", current);
  const [, name, text] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (name !== undefined && !line.isFlagsEnd) {
    const flag = line.flags.find(({ names }) => names.includes(name));
    return flag?.value ? list(flag.value, text ?? "", `${name}=`) : [];
  }
  if (current.startsWith("-") && current !== "-" && !line.isFlagsEnd) return filterByPrefix(listFlags(line), current);
  const { node, position } = line;
  if (node.commands && position === 0) return filterByPrefix(listCommands(node.commands), current);
  const parameters = node.parameters ?? [];
  const value = parameters[node.isRepeated ? Math.min(position, parameters.length - 1) : position];
  return value === undefined ? [] : list(value, current);
}

type Line = {
  node: CompletionNode;
  flags: CompletionFlag[];
  /** Number of parameters before the current word. */
  position: number;
  /** The flag that the current word is a value of. */
  openFlag: CompletionFlag | undefined;
  isFlagsEnd: boolean;
  /** Values of flags, by name. */
  values: Record<string, string>;
};

function readLine({ flags: allFlags, root }: CompletionIndex, words: readonly string[]): Line {
  const line: Line = { node: root, flags: [], position: 0, openFlag: undefined, isFlagsEnd: false, values: {} };
  const enter = (node: CompletionNode) => {
    line.node = node;
    line.flags = (node.flags ?? []).map((each) => allFlags[each]!);
  };
  enter(root);
  for (const word of words) {
    if (line.openFlag) {
      line.values[line.openFlag.names[0]!] = word;
      line.openFlag = undefined;
    } else if (word === "--" || line.isFlagsEnd) {
      if (line.isFlagsEnd) line.position++;
      line.isFlagsEnd = true;
    } else if (word.startsWith("-") && word !== "-") {
      const [, name = "", value] = /^([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
      const flag = line.flags.find(({ names }) => names.includes(name));
      if (flag && value !== undefined) line.values[flag.names[0]!] = value;
      else if (flag?.value !== undefined) line.openFlag = flag;
    } else {
      const child = line.position === 0 ? line.node.commands?.[word] : undefined;
      if (child) enter(child);
      else line.position++;
    }
  }
  return line;
}

async function listValues(value: CompletionValue, findLive: () => Promise<Candidate[]>): Promise<Candidate[]> {
  if (Array.isArray(value)) return value.map((each) => ({ value: each, description: "" }));
  if (value === "text") return [];
  const files = { value: FILES, description: "" };
  if (value === "file") return [files];
  return [...(await findLive()), ...(value === "image" ? [files] : [])];
}

const listFlags = ({ flags, values }: Line): Candidate[] =>
  [...flags, HELP]
    .filter(({ names }, index, all) => all.findIndex((each) => each.names[0] === names[0]) === index)
    .filter(({ names, isHidden }) => !isHidden && values[names[0]!] === undefined)
    .map(({ names, description }) => ({ value: names[0]!, description }));

const listCommands = (commands: Record<string, CompletionNode>): Candidate[] =>
  Object.entries(commands).map(([value, { description }]) => ({ value, description }));

const filterByPrefix = (candidates: Candidate[], text: string, prefix = ""): Candidate[] =>
  candidates
    .filter(({ value }) => value === FILES || value.startsWith(text))
    .map(({ value, description }) => ({ value: value === FILES ? value : `${prefix}${value}`, description }));
