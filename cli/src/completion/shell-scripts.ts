// Scripts that connect shells to `gesso __complete`. They contain no list of commands, so they never become outdated.

/**
 * Bash splits words at ":" and "=" too, and replaces only the part after the last one. So the words are read from the
 * line itself, and what bash keeps is removed from each candidate.
 */
const BASH = `# Completion of gesso for bash. Add to ~/.bashrc: source <(gesso completion bash)
_gesso() {
  local line=\${COMP_LINE:0:COMP_POINT} words value current kept
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]} - 1]}
  kept=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    if [[ $value == :files ]]; then
      compopt -o filenames
      while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "\${current#"$kept"}")
    else
      COMPREPLY+=("\${value#"$kept"}")
    fi
  done < <(gesso __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _gesso gesso
`;

const ZSH = `#compdef gesso
# Completion of gesso for zsh. Add to ~/.zshrc, after compinit: source <(gesso completion zsh)
_gesso() {
  local line
  local -a lines candidates
  lines=("\${(@f)$(gesso __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then
      _files
    elif [[ $line == *$'\\t'* ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      candidates+=("\${line//:/\\\\:}")
    fi
  done
  (( $#candidates )) && _describe -V 'gesso' candidates
}
compdef _gesso gesso
`;

const FISH = `# Completion of gesso for fish. Save it: gesso completion fish > ~/.config/fish/completions/gesso.fish
function __gesso_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (gesso __complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c gesso -f -k -a '(__gesso_complete)'
`;

const POWERSHELL = `# Completion of gesso for PowerShell. Add to $PROFILE: gesso completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName gesso -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    $newWord = if ($wordToComplete -eq '') { @('--new-word') } else { @() }
    gesso __complete @newWord -- @words 2>$null | ForEach-Object {
        $value, $description = $_ -split "\`t", 2
        if (-not $description) { $description = $value }
        if ($value -eq ':files') {
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
        } else {
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
        }
    }
}
`;

export const SHELL_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL } as const;
