// Reads settings from files: `NAME_FILE=/run/secrets/name` sets NAME to the contents of the file. Container platforms
// hand out secrets as files, which, unlike the environment, are not shown by inspection commands.
import { readFileSync } from "node:fs";

type Environment = Record<string, string | undefined>;

export type SettingFiles = {
  /** The environment with the contents of all files, and without the variables that name them. */
  environment: Environment;
  /** The file of each setting that was read from one. */
  files: ReadonlyMap<string, string>;
  /** One sentence for each setting whose file cannot be used. Its contents are never part of it. */
  problems: ReadonlyMap<string, string>;
};

/** `names` are all settings. Other variables that end in `_FILE` stay as they are. */
export function readSettingFiles(environment: Environment, names: Iterable<string>): SettingFiles {
  const result = { ...environment };
  const files = new Map<string, string>();
  const problems = new Map<string, string>();
  for (const name of new Set(names)) {
    const variable = `${name}_FILE`;
    const path = environment[variable];
    if (path === undefined) continue;
    delete result[variable];
    if (environment[name] !== undefined) {
      problems.set(name, `${name} and ${variable} are both set: remove one of them`);
      continue;
    }
    const { text, problem } = readText(path);
    if (problem === undefined) {
      result[name] = text;
      files.set(name, path);
    } else problems.set(name, `${variable}: ${problem}`);
  }
  return { environment: result, files, problems };
}

function readText(path: string): { text: string; problem?: string } {
  try {
    // Editors and `echo` end a file with a line break, which is not part of the value.
    let text = readFileSync(path, "utf8");
    while (text.endsWith("\n") || text.endsWith("\r")) text = text.slice(0, -1);
    return text === "" ? { text, problem: `${path} is empty` } : { text };
  } catch (thrown) {
    return { text: "", problem: `${path} cannot be read (${(thrown as NodeJS.ErrnoException).code})` };
  }
}
