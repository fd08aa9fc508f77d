// `gesso completion`: prints the script that makes a shell complete commands, flags, models and run IDs.
import { Argument, Command } from "commander";
import { SHELL_SCRIPTS } from "../completion/shell-scripts.ts";

const INSTALL = `
Install:
  bash         echo 'source <(gesso completion bash)' >> ~/.bashrc
  zsh          echo 'source <(gesso completion zsh)' >> ~/.zshrc
  fish         gesso completion fish > ~/.config/fish/completions/gesso.fish
  powershell   Add-Content $PROFILE 'gesso completion powershell | Out-String | Invoke-Expression'

Then open a new shell. Recent run IDs and custom models come from the server that your commands use.`;

export const completionCommand = (): Command =>
  new Command("completion")
    .addArgument(new Argument("<shell>", "name of your shell").choices(Object.keys(SHELL_SCRIPTS)))
    .addHelpText("after", INSTALL)
    .action((shell: keyof typeof SHELL_SCRIPTS) => {
      process.stdout.write(SHELL_SCRIPTS[shell]);
    });
