// Records the terminal sessions in the guides to the command line and to runbooks: runs the commands in tmux beside a
// real `gesso dev` with prices, and writes what the screen shows into the page. `npm run images -- recordings` makes
// them again; `--only=NAME` makes those whose name starts so.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startGesso } from "@gesso/dev/start";

const COMMAND_LINE = "docs/guide/command-line.md";
const RUNBOOKS = "docs/guide/runbooks.md";
const SOCKET = `gesso-recordings-${process.pid}`;
const SIZE = ["-x", "112", "-y", "48"];
/** The sandbox costs nothing; prices make costs visible. */
const PRICES = { "flux-dev": 0.02, nanobanana: 0.03, "photon-flash-1": 0.01, vendora: 0.05 };
const COMMAND_SECONDS = 60;

/**
 * `page`: default is the guide to the command line. `before` runs unseen. `moment`: what the screen shows while the
 * last command runs, in addition to its end.
 */
type Recording = { name: string; page?: string; before?: string[]; commands: string[]; moment?: RegExp };

const RECORDINGS: Recording[] = [
  { name: "first-image", commands: ['gesso generate "a red bicycle by the sea" -o bike.png'], moment: /processing/ },
  {
    name: "watch",
    before: ['id=$(gesso generate "a harbour at dusk" --no-wait -q)'],
    commands: ["gesso runs watch $id"],
  },
  {
    name: "tree",
    before: [
      'id=$(gesso generate "a cat on a sofa" -q)',
      'gesso edit $id "make it snow" -q',
      "gesso remove-background $id -q | gesso reframe - --ratio 1:1 -q",
      'gesso edit $id "at night [sandbox:fail]" -q',
    ],
    commands: ["gesso runs tree $id"],
  },
  {
    name: "failure",
    commands: ['gesso generate "a lighthouse [sandbox:fail]" -o lighthouse.png', "echo $?"],
  },
  ...[
    { name: "explain-failed", run: '"a lighthouse [sandbox:fail]"' },
    { name: "explain-unknown", run: '"a lighthouse [sandbox:drop,no_callback]" --model vendora' },
    { name: "explain-retried", run: '"a boat [sandbox:unavailable=2]"' },
  ].map(({ name, run }) => ({
    ...{ name, page: RUNBOOKS },
    before: [`run=$(gesso generate ${run} --no-wait -q)`, "gesso runs watch $run"],
    commands: ["gesso admin explain $run"],
  })),
  {
    ...{ name: "explain-canceled", page: RUNBOOKS },
    before: [
      'run=$(gesso generate "a boat [sandbox:never]" --no-wait -q)',
      "sleep 1; gesso runs cancel $run; gesso runs watch $run",
    ],
    commands: ["gesso admin explain $run"],
  },
];

const folder = mkdtempSync(join(tmpdir(), "gesso-recordings-"));
const promptsFile = join(folder, "prompts");
const tmux = (...parameters: string[]) => execFileSync("tmux", ["-L", SOCKET, ...parameters], { encoding: "utf8" });
const screen = () => tmux("capture-pane", "-p", "-J").trimEnd();
/** The shell writes one character before each prompt. */
const countPrompts = () => (existsSync(promptsFile) ? statSync(promptsFile).size : 0);

async function waitUntil(what: string, isMet: () => boolean): Promise<void> {
  for (const end = Date.now() + COMMAND_SECONDS * 1000; !isMet(); await sleep(20))
    if (Date.now() > end) throw new Error(`${what} after ${COMMAND_SECONDS} s:\n${screen()}`);
}

function startShell(url: string, key: string): void {
  mkdirSync(join(folder, "work"));
  const settings = {
    ...{ PATH: `${resolve("node_modules/.bin")}${delimiter}${process.env.PATH}`, HOME: folder },
    ...{ GESSO_URL: url, GESSO_API_KEY: key, PROMPT_COMMAND: `printf x >> ${promptsFile}` },
    // Recorded as a person sees them, also in CI.
    ...{ CI: "", CLAUDECODE: "" },
  };
  const variables = Object.entries(settings).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  tmux("new-session", "-d", ...SIZE, "-c", join(folder, "work"), ...variables, "bash --norc --noprofile");
}

async function type(command: string): Promise<() => Promise<void>> {
  const before = countPrompts();
  tmux("send-keys", "-l", command);
  tmux("send-keys", "Enter");
  return () => waitUntil(`${command} has not ended`, () => countPrompts() > before);
}

async function record({ before = [], commands, moment }: Recording): Promise<string> {
  for (const command of [...before, "clear"]) await (await type(command))();
  const frames: string[] = [];
  for (const command of commands) {
    const ended = await type(command);
    if (moment && command === commands.at(-1)) {
      await waitUntil(`${command} shows no ${moment}`, () => moment.test(screen()));
      frames.push(screen());
    }
    await ended();
  }
  // The last line is the next prompt.
  frames.push(screen().replace(/\n?\$$/, ""));
  return frames.join("\n\n");
}

function writeRecording({ name, page: path = COMMAND_LINE }: Recording, text: string): void {
  const page = readFileSync(path, "utf8");
  const block = new RegExp(`(<!-- recording ${name} -->\\n\\n\`\`\`text\\n)[\\s\\S]*?(\\n\`\`\`)`);
  if (!block.test(page)) throw new Error(`${path} has no place for the recording ${name}`);
  const lines = text.split("\n").map((line) => line.trimEnd());
  writeFileSync(
    path,
    page.replace(block, (_, start, end) => `${start}${lines.join("\n")}${end}`),
  );
}

writeFileSync(
  join(folder, "gesso.yaml"),
  `models:\n${Object.entries(PRICES)
    .map(([model, price]) => `  ${model}:\n    - provider: sandbox\n      price: ${price}\n`)
    .join("")}`,
);
process.env.GESSO_CONFIG = join(folder, "gesso.yaml");
process.env.UNKNOWN_SECONDS = "5";
const gesso = await startGesso({ dataDir: join(folder, "data"), log: () => {} });
try {
  startShell(gesso.url, gesso.key);
  await waitUntil("no prompt", () => countPrompts() > 0);
  await (await type("PS1='$ '"))();
  const only = process.argv.find((each) => each.startsWith("--only="))?.slice("--only=".length) ?? "";
  for (const recording of RECORDINGS.filter(({ name }) => name.startsWith(only))) {
    const text = (await record(recording)).replaceAll(gesso.url, "http://127.0.0.1:7788");
    console.log(`--- ${recording.name}\n${text}`);
    if (!process.argv.includes("--dry-run")) writeRecording(recording, text);
  }
} finally {
  tmux("kill-server");
  await gesso.stop();
  rmSync(folder, { recursive: true, force: true });
}
