import { Argument, Command } from 'commander';
import type { Shell } from './shell-scripts.ts';

/** Prints the completion script of a shell. The script runs this command again with the words before the cursor. */
export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('print a script that lets the shell complete commands and options')
    .addArgument(new Argument('<shell>', 'shell that reads the script').choices(['bash', 'zsh', 'fish']))
    .argument('[words...]', 'words before the cursor; prints what can continue them instead of the script')
    .action(async (shell: Shell, words: readonly string[]) => {
      const { shellScripts } = await import('./shell-scripts.ts');
      if (words.length === 0) {
        process.stdout.write(shellScripts[shell]);
        return;
      }
      const { findCandidates } = await import('./find-candidates.ts');
      const separator = shell === 'zsh' ? ':' : '\t';
      for (const { word, description } of findCandidates(program, words)) console.log(word + separator + description);
    });
}
