import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { openTestBed } from '../execution/sandbox/testing/test-bed.suite.ts';
import { createReadPiece } from './read-piece.ts';

const bed = await openTestBed({ isolation: 'sandbox' });
after(() => bed[Symbol.asyncDispose]());

const outbound = { send: async () => ({ kind: 'refused' as const, message: 'No logo.' }), close: async () => {} };
const readPiece = createReadPiece({ sandbox: async () => bed.sandbox, outbound });

/** Reads a piece with one action. */
async function read(body: string) {
  const file = Buffer.from(`exports.tea = { displayName: 'Tea', homepage: 'https://www.tea.example.dev/',
    auth: { type: 'SECRET_TEXT', displayName: 'Key', required: true }, getContextInfo: () => ({ version: '1' }),
    _actions: { brew: { name: 'brew', displayName: 'Brew', description: '', props: {}, run: async ({ auth }) => { ${body} } } } };`);
  const { signal } = new AbortController();
  const about = { name: '@x/piece-tea', version: '1.0.0', integrity: 'sha512-x', licence: '', packedFrom: null };
  const { files, warnings } = await readPiece({ ...about, file }, undefined, signal);
  const { hosts, credential_places } = parse(String(files.get('bundle.yaml')));
  return { hosts, getting: credential_places.hosts, warnings };
}

test('only hosts that the dry run called may be reached, and a warning names the others in the code', async () => {
  const body = `return (await fetch('https://api.tea.example.dev/brew', { headers: { 'x-key': auth.secret_text } })).json();`;
  assert.deepEqual(await read(body), {
    hosts: ['api.tea.example.dev'],
    getting: ['api.tea.example.dev'],
    warnings: ['The code also names these hosts, which calls may not reach: www.tea.example.dev.'],
  });
});

test('hosts in the code are proposed if the dry run called none', async () => {
  const { hosts, getting, warnings } = await read(`throw new Error('No.');`);
  assert.deepEqual([hosts, getting], [['www.tea.example.dev'], []]);
  assert.match(warnings[0] ?? '', /calls may reach because the dry run reached none: www\.tea\.example\.dev/);
});
