import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from './exit-codes.ts';
import { createProgram } from './program.ts';

const run = 'npm run quartermaster --';

/** Each wrong command line, and the whole sentence that it gets. */
const wrongCommands: ReadonlyArray<readonly [line: string, sentence: string]> = [
  ['fils list', `Unknown command "fils". Did you mean files? Run "${run} --help" to see the commands.`],
  ['help serach', `Unknown command "serach". Did you mean search? Run "${run} --help" to see the commands.`],
  ['help files lst', `Unknown command "lst". Did you mean list? Run "${run} files --help" to see the commands.`],
  ['files lst', `Unknown command "lst". Did you mean list? Run "${run} files --help" to see the commands.`],
  ['login --nosuch', `Unknown option "--nosuch". Run "${run} login --help" to see the options.`],
  ['files get', `The argument <file> is missing. Run "${run} files get --help" to see the arguments.`],
  [
    'files get a b c',
    `The command takes 1 argument; received 3. Quote an argument that contains spaces. Run "${run} files get --help" to see the arguments.`,
  ],
  ['key create p', `The option --name <name> is required. Run "${run} key create --help" to see the options.`],
  [
    'files list --limit',
    `The option --limit <number> needs a value. Run "${run} files list --help" to see the options.`,
  ],
  ['files list --limit x', '--limit <number> cannot be "x". The value must be a whole number from 1 to 10000.'],
  [
    `files list --limit ${'x'.repeat(80)}`,
    `--limit <number> cannot be "${'x'.repeat(60)}…". The value must be a whole number from 1 to 10000.`,
  ],
  ['collections create --type zz a', '--type <type> cannot be "zz". Allowed: text, qa.'],
  ...['1e300', '0', '-1', 'soon', ''].map(
    (days) =>
      [
        `key create p --name x --expires-in ${days}`,
        `--expires-in <days> cannot be "${days}". The value must be more than 0 and at most 36500 days.`,
      ] as const,
  ),
  ...['1e300', '-1', 'NaN', '43201'].map(
    (minutes) =>
      [
        `key rotate k --overlap ${minutes}`,
        `--overlap <minutes> cannot be "${minutes}". The value must be a number of minutes from 0 to 43200.`,
      ] as const,
  ),
  ['completion tcsh', '<shell> cannot be "tcsh". Allowed: bash, zsh, fish.'],
];

for (const [line, sentence] of wrongCommands) {
  test(`a wrong command line names the error and the remedy: ${line.slice(0, 50)}`, async () => {
    await assert.rejects(createProgram().parseAsync(line.split(' '), { from: 'user' }), (error) => {
      assert.ok(error instanceof CommandError, String(error));
      assert.deepEqual([error.message, error.exitCode], [sentence, 64]);
      return true;
    });
  });
}

test('help shows the help of a command, and never runs it', async (t) => {
  const shown: string[] = [];
  t.mock.method(process.stdout, 'write', (text: string) => shown.push(text) > 0);
  t.mock.method(process, 'exit', () => {
    throw new Error('ended');
  });
  for (const names of [
    ['files', 'delete'],
    ['files', 'delete', 'file-1', 'file-2'],
  ]) {
    await assert.rejects(createProgram().parseAsync(['help', ...names], { from: 'user' }), /^Error: ended$/);
  }
  t.mock.restoreAll();
  assert.match(shown[0] ?? '', /^Usage: .*files delete/);
  assert.equal(shown[1], shown[0]);
});
