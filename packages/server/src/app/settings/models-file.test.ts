import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { parseConfig } from './config.ts';
import { maxFurtherModels } from './models-file.ts';

async function parse(t: TestContext, content: unknown) {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'models.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return parseConfig({ QUARTERMASTER_EMBEDDING_MODELS_FILE: path });
}

test('the file of further models takes the members of the settings and their defaults', async (t) => {
  const folder = await temporaryFolder(t);
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, 'secret key\n');
  const { furtherModels } = await parse(t, [
    { provider: 'openai', model: 'text-embedding-3-large', dimensions: 256, key_file: keyFile },
    { provider: 'onnx', model: '/models/e5' },
  ]);
  assert.deepEqual(
    furtherModels.map((each) => [each.embeddingProvider, each.embeddingModel, each.embeddingDimensions]),
    [
      ['openai', 'text-embedding-3-large', 256],
      ['onnx', '/models/e5', null],
    ],
  );
  assert.deepEqual(
    furtherModels.map((each) => [each.embeddingKey?.reveal(), each.embeddingThreads]),
    [
      ['secret key', 1],
      [undefined, 1],
    ],
  );
});

const whole = /MODELS_FILE must name a readable file with a JSON list of at most 16 objects/;
const errors: ReadonlyArray<readonly [string, unknown, RegExp]> = [
  ['text that is not JSON', '{', whole],
  ['an object', {}, whole],
  ['a list of texts', ['openai'], whole],
  ['too many models', Array.from({ length: maxFurtherModels + 1 }, () => ({ provider: 'openai' })), whole],
  [
    'an unknown member',
    [{ provider: 'openai', colour: 'red' }],
    /model 1: unknown member "colour". Allowed: provider, /,
  ],
  ['a model without a provider', [{ model: 'm' }], /model 1: provider is required\./],
  [
    'a wrong number',
    [{ provider: 'openai' }, { provider: 'openai', threads: 0 }],
    /model 2: threads must be a whole number/,
  ],
  ['a member of another type', [{ provider: ['openai'] }], /model 1: provider must be a string or a number\./],
  [
    'a key file that is missing',
    [{ provider: 'openai', key_file: '/no/such/key' }],
    /model 1: key_file: the file "\/no\/such\/key" cannot be read\./,
  ],
  [
    'onnx without a folder',
    [{ provider: 'onnx' }],
    /model 1: provider is onnx: set model to the folder of the model, too\./,
  ],
];

for (const [name, content, expected] of errors) {
  test(`the file of further models is refused with the place of the error: ${name}`, async (t) => {
    await assert.rejects(parse(t, content), (error: Error) => {
      assert.match(error.message, expected);
      assert.ok(!error.message.includes('QUARTERMASTER_EMBEDDING_PROVIDER'), error.message);
      return true;
    });
  });
}
