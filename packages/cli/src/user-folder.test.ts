import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { bundleCommands } from './bundle-commands.ts';
import { storeCommands } from './store-commands.ts';
import { usePathsOfUser } from './user-folder.ts';

/** Returns the arguments that the action of a command gets when npm runs it for a user in `/home/ada`. */
async function given(...words: readonly string[]): Promise<unknown[]> {
  const program = new Command('quartermaster').addCommand(bundleCommands());
  for (const command of storeCommands()) program.addCommand(command);
  usePathsOfUser(program, { INIT_CWD: '/home/ada', npm_lifecycle_event: 'quartermaster' });
  let found: unknown[] = [];
  program.hook('preAction', (_program, command) => {
    command.action((...all: unknown[]) => {
      found = all.slice(0, -1);
    });
  });
  await program.parseAsync(words, { from: 'user' });
  return found;
}

const cases: ReadonlyArray<readonly [words: string, argument: string | undefined]> = [
  ['bundle pack @activepieces/piece-gmail', '@activepieces/piece-gmail'],
  ['bundle pack @activepieces/piece-gmail@0.2.0', '@activepieces/piece-gmail@0.2.0'],
  ['bundle pack weather', '/home/ada/weather'],
  ['bundle pack @mine/bundles/weather', '/home/ada/@mine/bundles/weather'],
  ['bundle add @activepieces/piece-gmail@0.2.0', '@activepieces/piece-gmail@0.2.0'],
  ['bundle add https://api.example.com/openapi.json', 'https://api.example.com/openapi.json'],
  ['bundle add ./tea.tgz', '/home/ada/tea.tgz'],
  ['bundle add tea.tgz', '/home/ada/tea.tgz'],
  ['bundle add --from tea.tgz', undefined],
  ['bundle update piece_tea@1.0.0', 'piece_tea@1.0.0'],
  ['restore copy data', '/home/ada/copy'],
  ['backup copy', '/home/ada/copy'],
];

for (const [words, argument] of cases) {
  test(`npm runs "${words}" with paths of the folder of the user`, async () => {
    assert.equal((await given(...words.split(' ')))[0], argument);
  });
}

test('options that name files are paths of the folder of the user, and "-" stays standard input', async () => {
  const words = ['bundle', 'add', '--from', '@a/b.tgz', '--credentials', '-', '--mcp', 'https://mcp.example.com'];
  assert.deepEqual((await given(...words))[1], {
    from: '/home/ada/@a/b.tgz',
    credentials: '-',
    mcp: 'https://mcp.example.com',
  });
});
