/** The scripts that let each shell ask `quartermaster completion SHELL -- WORDS` for candidates. */
export const shellScripts = {
  bash: `_quartermaster() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(quartermaster completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _quartermaster quartermaster
`,
  zsh: `#compdef quartermaster
_quartermaster() {
  local -a candidates
  candidates=("\${(@f)$(quartermaster completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${candidates[1]}" ]]; then
    _describe quartermaster candidates
  else
    _files
  fi
}
compdef _quartermaster quartermaster
# A file of $fpath is run by its first use.
[[ "\${funcstack[1]}" = _quartermaster ]] && _quartermaster
true
`,
  fish: `function __quartermaster_complete
  set -l candidates (quartermaster completion fish -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c quartermaster -f -a '(__quartermaster_complete)'
`,
} as const;

export type Shell = keyof typeof shellScripts;
export const shells = Object.keys(shellScripts) as Shell[]; // of the object above
