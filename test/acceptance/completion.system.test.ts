import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { runCli } from '../../packages/cli/src/testing/run-cli.ts';
import { temporaryFolder } from '../support/service.ts';

const run = promisify(execFile);
const command = `${process.execPath} packages/cli/src/main.ts`;

/** Writes the script that the command prints for a shell. */
async function writeScript(t: TestContext, shell: string): Promise<string> {
  const home = await temporaryFolder(t);
  const { code, output } = await runCli(['completion', shell], { home });
  assert.equal(code, 0);
  await writeFile(join(home, 'script'), output);
  return join(home, 'script');
}

test('[commands] bash completes commands, options and choices with the script, and paths by itself', async (t) => {
  const complete = `ask() { COMP_WORDS=(quartermaster "$@"); COMP_CWORD=$#; _quartermaster; echo "\${COMPREPLY[@]}"; }`;
  const asks = `ask fi; ask files d; ask collections create --type ''; ask files upload lib; complete -p quartermaster`;
  const program = `quartermaster() { ${command} "$@"; }; source ${await writeScript(t, 'bash')}; ${complete}; ${asks}`;
  const { stdout } = await run('bash', ['--norc', '-c', program], { signal: t.signal });
  assert.deepEqual(stdout.trim().split('\n'), [
    ...['files', 'download delete', 'text qa', ''],
    'complete -o default -F _quartermaster quartermaster',
  ]);
});

test('[commands] fish completes commands with descriptions, and paths', async (t) => {
  const asks = ['quartermaster fi', 'quartermaster collections create --type ', 'quartermaster files upload package-l'];
  const program = `function quartermaster; ${command} $argv; end; source ${await writeScript(t, 'fish')}; ${asks
    .map((line) => `complete -C "${line}"`)
    .join('; ')}`;
  const env = { ...process.env, HOME: await temporaryFolder(t) };
  const { stdout } = await run('/usr/bin/fish', ['--no-config', '-c', program], { env, signal: t.signal });
  assert.match(stdout, /^files\tupload, list.*\n(?:qa\ntext|text\nqa)\npackage-lock\.json/);
});

test('[commands] zsh completes commands with descriptions, and paths', async (t) => {
  // The functions of the completion system, which needs a terminal.
  const system = `compdef() { print "compdef $@" }; _describe() { print -rl -- $candidates }; _files() { print paths }`;
  const asks = `words=(quartermaster fi); CURRENT=2; _quartermaster; words=(quartermaster files upload x); CURRENT=4; _quartermaster`;
  const program = `${system}; quartermaster() { ${command} "$@" }; source ${await writeScript(t, 'zsh')}; ${asks}`;
  const { stdout } = await run('/usr/bin/zsh', ['-f', '-c', program], { signal: t.signal });
  assert.match(stdout, /^compdef _quartermaster quartermaster\nfiles:upload, list.*\npaths\n$/);
});
