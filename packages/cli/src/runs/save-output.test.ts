import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { OutputArtifact } from '@quartermaster/contract';
import { temporaryFolder } from '../../../../test/support/service.ts';
import { saveOutput } from './save-output.ts';

/** A stored file of an output. Its id is its content. */
function artifact(name: string): OutputArtifact {
  const about = { path: '/image', media_type: 'image/any', bytes: 3, sha256: undefined, expires_timestamp: 0 };
  return { ...about, artifact_id: name.slice(-3), file_name: name, file_url: `http://127.0.0.1/${name}` } as never;
}

const artifacts = { download: async (id: string) => new Response(id) } as never;
const [png, svg] = [artifact('code.png'), artifact('code.svg')];
const output = { image: 'artifact' };
const asJson = `${JSON.stringify(output, null, 2)}\n`;

for (const [name, found, content] of [
  ['a.svg', [png, svg], 'svg'],
  ['a.png', [png, svg], 'png'],
  ['a', [png, svg], asJson],
  ['a.txt', [png, svg], asJson],
  ['a.json', [png, svg], asJson],
  ['a.json', [png], asJson],
  ['a', [png], 'png'],
] as const) {
  test(`--out ${name} of an output with ${found.length} files writes ${content === asJson ? 'the output as JSON' : content}`, async (t) => {
    const path = join(await temporaryFolder(t), name);
    await saveOutput({ data: output, artifacts: [...found] }, { artifacts, path, force: undefined });
    assert.equal(await readFile(path, 'utf8'), content);
  });
}

test('--out with the extension of a picture that the output lacks names the files of the output', async (t) => {
  const path = join(await temporaryFolder(t), 'a.jpg');
  await assert.rejects(saveOutput({ data: output, artifacts: [png, svg] }, { artifacts, path, force: undefined }), {
    exitCode: 73,
    message: /has 2 files, and none has the extension of .*a\.jpg.*png \(code\.png\), svg \(code\.svg\)$/,
  });
});
