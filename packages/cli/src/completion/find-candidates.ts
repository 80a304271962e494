import type { Command, Option } from 'commander';

/** A word that can complete the text at the cursor. */
export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** Returns the words that continue the last of these words. Without any, the shell completes paths. */
export function findCandidates(program: Command, words: readonly string[]): readonly Candidate[] {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { command, option, hasArguments } = readPosition(program, before);
  const all =
    option !== undefined
      ? toCandidates(option.argChoices ?? [])
      : current.startsWith('-')
        ? optionsOf(command)
        : hasArguments
          ? []
          : commandsOf(command);
  return all.filter(({ word }) => word.startsWith(current));
}

interface Position {
  readonly command: Command;
  /** The option whose value is at the cursor. */
  readonly option: Option | undefined;
  readonly hasArguments: boolean;
}

function readPosition(program: Command, words: readonly string[]): Position {
  let command = program;
  let option: Option | undefined;
  let hasArguments = false;
  for (const word of words) {
    if (option !== undefined) option = undefined;
    else if (word.startsWith('-')) {
      const found = command.options.find(({ long, short }) => word === long || word === short);
      option = found?.required === true ? found : undefined;
    } else {
      const child = hasArguments ? undefined : command.commands.find((one) => one.name() === word);
      if (child === undefined) hasArguments = true;
      else command = child;
    }
  }
  return { command, option, hasArguments };
}

function commandsOf(command: Command): readonly Candidate[] {
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  return [
    ...command.commands.map((child) => ({ word: child.name(), description: child.description() })),
    ...toCandidates(choices),
  ];
}

function optionsOf(command: Command): readonly Candidate[] {
  return [
    ...command.options.map(({ long, short, description }) => ({ word: long ?? short ?? '', description })),
    { word: '--help', description: 'display help for command' },
  ];
}

function toCandidates(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, description: '' }));
}
