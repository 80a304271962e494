import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../program.ts';
import { findCandidates } from './find-candidates.ts';

const program = createProgram();
const complete = (line: string) => findCandidates(program, line.split(' ')).map(({ word }) => word);

test('commands, subcommands, options and choices are completed, and paths are left to the shell', () => {
  assert.deepEqual(complete('fi'), ['files']);
  assert.deepEqual(complete('files d'), ['download', 'delete']);
  assert.deepEqual(complete('files list --p'), ['--purpose']);
  assert.deepEqual(complete('files list --purpose x --j'), ['--json']);
  assert.deepEqual(complete('collections create --type '), ['text', 'qa']);
  assert.deepEqual(complete('collections create handbook --type q'), ['qa']);
  assert.deepEqual(complete('completion '), ['bash', 'zsh', 'fish']);
  assert.deepEqual(complete('--v'), ['--version']);
  assert.ok(complete('').includes('login'));
  assert.ok(complete('bundle import ').includes('openapi'));
  for (const path of ['files upload lib', 'files list --key-file ', 'nothing files ', 'files upload files '])
    assert.deepEqual(complete(path), [], path);
});

test('every command, option and choice of the command line is completed by its first characters', () => {
  let checked = 0;
  const visit = (words: readonly string[], command: typeof program) => {
    for (const child of command.commands) {
      assert.ok(complete([...words, child.name()].join(' ')).includes(child.name()));
      visit([...words, child.name()], child);
    }
    for (const { long } of command.options) {
      assert.ok(complete([...words, long].join(' ')).includes(long ?? ''));
      checked += 1;
    }
  };
  visit([], program);
  assert.ok(checked > 100, `${checked} options`);
});
