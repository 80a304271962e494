import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, gunzipSync } from 'node:zlib';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { createConsoleFiles } from './console-files.ts';

test('a file of the console that was changed after the build is refused and named, in each of its forms', async (t) => {
  const folder = await temporaryFolder(t);
  const forms = { identity: ['app.js', 'let a;'], br: ['app.js.br', 'short'] } as const;
  for (const [name, content] of Object.values(forms)) await writeFile(join(folder, name), content);
  const digests = {
    identity: hash('sha256', 'let a;', 'base64url'),
    br: hash('sha256', 'short', 'base64url'),
  };
  const entry = { name: 'app.js', type: 'text/javascript', hash: digests.identity.slice(0, 22), digests };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ from: '', files: [entry] }));
  const files = createConsoleFiles(`${folder}/`);
  const file = await files.find('app.js');
  assert.ok(file);
  assert.deepEqual(await files.findChanged(), []);
  for (const encoding of ['identity', 'br'] as const) {
    const [name, content] = forms[encoding];
    assert.equal((await files.read(file, encoding)).toString(), content);
    await writeFile(join(folder, name), content.toUpperCase());
    await assert.rejects(files.read(file, encoding), { code: 'SERVICE_UNAVAILABLE', message: new RegExp(name) });
    assert.deepEqual(await files.findChanged(), [name]);
    await writeFile(join(folder, name), content);
  }
});

test('an asset that is stored in Brotli only is read in its plain form and as gzip too, and a change of it is named once', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'assets'));
  const [plain, packed] = [Buffer.from('let a;'), brotliCompressSync('let a;')];
  const path = 'assets/app.js.br';
  await writeFile(join(folder, path), packed);
  const digests = { identity: hash('sha256', plain, 'base64url'), br: hash('sha256', packed, 'base64url') };
  const entry = { name: 'assets/app.js', type: 'text/javascript', hash: digests.identity.slice(0, 22), digests };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ from: '', files: [entry] }));
  const files = createConsoleFiles(`${folder}/`);
  const file = await files.find('assets/app.js');
  assert.ok(file);
  await writeFile(join(folder, path), 'cut');
  const refusal = { code: 'SERVICE_UNAVAILABLE', message: new RegExp(path) };
  await assert.rejects(files.read(file, 'gzip'), refusal);
  await writeFile(join(folder, path), packed);
  assert.equal((await files.read(file, 'identity')).toString(), 'let a;');
  const sent = await files.read(file, 'gzip');
  assert.equal(gunzipSync(sent).toString(), 'let a;');
  assert.equal(await files.read(file, 'gzip'), sent, 'it is compressed once');
  assert.deepEqual(await files.findChanged(), []);
  await writeFile(join(folder, path), brotliCompressSync('let b;'));
  await assert.rejects(files.read(file, 'identity'), refusal);
  assert.deepEqual(await files.findChanged(), [path]);
});
