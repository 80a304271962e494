import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '@quartermaster/contract';
import { createAdmission } from '../../../platform/admission/admission.ts';
import { createLogger } from '../../../platform/log/logger.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { createPermissions } from '../../../platform/permissions.ts';
import { BlobMissing } from '../../../stores/files/blob-store.ts';
import { createFileInputs, type FileSources, fileInputLimits } from './file-inputs.ts';

const permitting = (scopes: readonly Scope[]) => createPermissions({ scopes, collections: null, tools: null });

const id = 'file0mwq7qe92rz5d1vkc40m';
const { inputBytes, processBytes } = fileInputLimits;

const unreachable = async () => assert.fail('the plugin was run');

/** Files that have any size, without their bytes. */
function open(bytes: number, sources: Partial<FileSources['artifacts']> & Partial<FileSources['files']> = {}) {
  const file = { ...{ id, projectId: 'p', blobId: 'b', name: 'a.pdf', bytes, sha256: '' } } as const;
  const content = async function* () {
    yield Buffer.from('bytes');
  };
  const all = {
    findFile: async () => ({ ...file, purpose: 'record_file' as const, extension: 'pdf' as const }),
    findStored: async () => 'expired' as const,
    open: content,
    ...sources,
  };
  const schema = { properties: { file: { contentEncoding: 'base64' } } };
  const { read } = createFileInputs({
    admission: createAdmission(),
    ...{ schemaOf: () => () => schema, logger: createLogger('silent'), metrics: createMetrics() },
    sources: { files: all, artifacts: all },
  });
  const caller = { projectId: 'p', keyId: 'k', permissions: permitting(['files']) };
  const request = (file: string) => ({ bundle_id: 'b', plugin_id: 'p', input_params: { file }, credentials: {} });
  return {
    fill: async <T>(work: (input: object) => Promise<T>, reference = `file:${id}`, from: object = caller) =>
      await read(request(reference), { projectId: 'p', keyId: null, ...from }, (files) =>
        work(Object.fromEntries(files)),
      ),
  };
}

test('the limit input_file_bytes_of_process applies to the files of all runs in progress together', async () => {
  const { fill } = open(inputBytes);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const begun: Array<Promise<void>> = [];
  const running = Array.from({ length: processBytes / inputBytes }, (_, n) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push(promise);
    const work = () => {
      resolve();
      return ended;
    };
    return fill(work, `file:${id}`, { projectId: `p${n}`, keyId: 'k', permissions: permitting(['files']) });
  });
  await Promise.all(begun);
  await assert.rejects(fill(unreachable), { code: 'TOO_MANY_REQUESTS', headers: { 'Retry-After': '1' } });
  end();
  await Promise.all(running);
  assert.deepEqual(await fill(async (input) => input), { '/file': Buffer.from('bytes').toString('base64') });
});

test('a file that is deleted while it is read has its own error, and so does an expired artifact', async () => {
  const { fill } = open(5, {
    open: () => {
      throw new BlobMissing('b');
    },
  });
  await assert.rejects(fill(unreachable), { code: 'OBJECT_NOT_FOUND' });
  await assert.rejects(fill(unreachable, `artifact:${id}`), {
    code: 'REQUEST_VALIDATION_ERROR',
    message: /^body\/input_params\/file must be an artifact that is still stored; received one that has expired\. Run /,
  });
});

test('a run that was accepted earlier can read its files without a key, but another caller cannot', async () => {
  const { fill } = open(5);
  const resumes = { runId: 'r', createdAt: 0 };
  assert.ok(await fill(async (input) => input, `file:${id}`, { resumes }));
  await assert.rejects(fill(unreachable, `file:${id}`, {}), { code: 'APIKEY_VALIDATION_FAILED' });
  const permissions = permitting(['plugins', 'collections']);
  await assert.rejects(fill(unreachable, `file:${id}`, { keyId: 'k', permissions }), { code: 'PERMISSION_DENIED' });
});

test('a caller that is limited to collections and tools names only files and artifacts that it sees', async () => {
  const asked: unknown[] = [];
  const artifact = { keyId: 'another', bytes: 5 } as never;
  const { fill } = open(5, {
    findFile: async (_project, _file, reach) => void asked.push(reach),
    findStored: async () => artifact,
  });
  const permissions = createPermissions({ scopes: ['files:read'], collections: ['c'], tools: ['b'] }, ['k']);
  for (const reference of [`file:${id}`, `artifact:${id}`]) {
    await assert.rejects(fill(unreachable, reference, { keyId: 'k', permissions }), { code: 'OBJECT_NOT_FOUND' });
  }
  assert.deepEqual(asked, [{ keyIds: new Set(['k']), collections: new Set(['c']) }]);
});
