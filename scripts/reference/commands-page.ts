import { exitCodeMeanings } from '../../packages/cli/src/exit-codes.ts';
import { createProgram } from '../../packages/cli/src/program.ts';

type Command = ReturnType<typeof createProgram>;
type Option = Command['options'][number];

/** Renders `docs/reference/commands.md`: every command with its arguments, its options and the exit codes. */
export function describeCommands(): string {
  return `# Commands

Generated from the command line by \`npm run reference\`; do not edit. [The guide](../guides/command-line.md) explains how to log in and how
scripts use commands.

${createProgram()
  .commands.flatMap((command) => describeCommand(command, 'quartermaster'))
  .join('\n')}
## Exit codes

They are those of \`sysexits.h\`, besides 0, 1 and 141.

| Code | Meaning |
|---|---|
${Object.entries(exitCodeMeanings)
  .map(([code, meaning]) => `| ${code} | ${meaning} |`)
  .join('\n')}
`;
}

function describeCommand(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const level = '#'.repeat(Math.min(4, name.split(' ').length));
  const words = command.registeredArguments.map((argument) => {
    const word = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const parts = [
    ...command.registeredArguments.map((argument) => `| \`${argument.name()}\` | ${cell(argument.description)} |`),
    ...command.options.map((option) => `| \`${option.flags}\` | ${cell(describeOption(option))} |`),
  ];
  const usage = [name, ...words, ...(command.options.length > 0 ? ['[options]'] : [])].join(' ');
  return [
    `${level} ${name}\n`,
    `${capitalize(command.description())}.\n`,
    ...(command.commands.length > 0 ? [] : [`\`${usage}\`\n`]),
    ...(parts.length === 0 ? [] : [`| | |\n|---|---|\n${parts.join('\n')}\n`]),
    ...command.commands.flatMap((child) => describeCommand(child, name)),
  ];
}

function describeOption({ description, defaultValue, mandatory }: Option): string {
  const isShown = typeof defaultValue === 'string' && defaultValue !== '';
  return `${description}${mandatory ? ' (required)' : ''}${isShown ? ` (default: ${defaultValue})` : ''}`;
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
