import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from './program.ts';

/** Commands whose output is a log, a protocol, a script or the help. */
const others = ['start', 'mcp', 'completion', 'help'];

function leaves(command: Command, parent: string): Array<readonly [name: string, command: Command]> {
  const name = `${parent} ${command.name()}`.trim();
  if (command.commands.length === 0) return [[name, command]];
  return command.commands.flatMap((child) => leaves(child, name));
}

test('every command has --json, except those whose output is a log, a protocol or a script', () => {
  const commands = createProgram().commands.flatMap((command) => leaves(command, ''));
  assert.ok(commands.length > 60, `${commands.length} commands`);
  const without = commands.filter(([, { options }]) => !options.some(({ long }) => long === '--json'));
  assert.deepEqual(without.map(([name]) => name).sort(), [...others].sort());
});

test('no command takes a key or a password as an argument', () => {
  const commands = createProgram().commands.flatMap((command) => leaves(command, ''));
  const flags = commands.flatMap(([name, { options }]) => options.map((option) => `${name} ${option.flags}`));
  assert.deepEqual(
    flags.filter((flag) => /--(?:api-)?(?:key|token|password|secret)(?: |$)/.test(flag)),
    // The file of a signing key.
    ['bundle pack --key <file>'],
  );
});
