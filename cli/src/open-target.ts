// Opens a file or a URL in the browser or viewer of this machine. `BROWSER` names another program.
import { spawn } from "node:child_process";

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

export function openTarget(target: string): void {
  const [program = "", ...parameters] = process.env.BROWSER
    ? [process.env.BROWSER]
    : (OPENERS[process.platform] ?? ["xdg-open"]);
  const child = spawn(program, [...parameters, target], { stdio: "ignore", detached: true });
  child.on("error", () => process.stderr.write(`Cannot open ${target}: ${program} was not found.\n`));
  child.unref();
}
