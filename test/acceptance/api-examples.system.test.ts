import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { listExamples, openExampleShell, type ShownExample } from '../support/api-examples.ts';
import { blocksRunBy } from '../support/documented-blocks.ts';

/** The first and last examples: the administrator must exist first, and deleted objects are needed until the end. */
const first = ['getSetUp', 'setUp', 'createCredentialProfile'];
const last = [
  ...['deleteChunk', 'deleteRecord', 'deleteCollection', 'deleteFile', 'deleteArtifact', 'rotateKey', 'revokeKey'],
  ...[
    'removeMember',
    'deleteAccount',
    'deleteCredentialProfile',
    'deleteConnection',
    'deleteEndUser',
    'deleteAtPluginsAddress',
    'endSession',
    'changePassword',
    'signOut',
  ],
];

test('[documented] every example of both OpenAPI documents works as printed, with a key of the scope that is named', async (t) => {
  const shell = await openExampleShell(t);
  const examples = await listExamples(shell.service);
  const place = ({ operationId }: ShownExample) =>
    first.includes(operationId) ? first.indexOf(operationId) - 100 : last.indexOf(operationId);
  const ordered = examples.toSorted((a, b) => place(a) - place(b));
  const operations = new Set(examples.map(({ address, operationId }) => `${address} ${operationId}`));
  assert.ok(operations.size >= 70, `only ${operations.size} operations`);

  const blocks = blocksRunBy(import.meta.filename);
  assert.ok(blocks.length > 4, `only ${blocks.length} blocks of the pages`);
  for (const example of ordered) {
    // The pages use the objects that the last examples delete.
    if (place(example) >= 0) {
      for (const { page, line, text } of blocks.splice(0)) {
        await t.test(`${page}:${line}`, async () => {
          const { code, output } = await shell.run(text);
          assert.equal(code, 0, output);
        });
      }
    }
    await t.test(`${example.address} ${example.operationId}: ${example.label}`, async () => {
      if (/RECORD_ID|COLLECTION_ID|FILE_ID/.test(example.source)) await shell.settle();
      const keys = example.scope === undefined ? undefined : shell.keysFor(example.scope);
      if (keys !== undefined) {
        const refused = await shell.run(example.source, { QM_API_KEY: keys.insufficient });
        assert.match(refused.output, /"PERMISSION_DENIED"/, 'a key with all other scopes is refused');
      }
      const { code, output } = await shell.run(
        example.source,
        keys === undefined ? {} : { QM_API_KEY: keys.sufficient },
      );
      assert.equal(code, 0, output);
      checkAnswer(example, output);
      if (example.body !== undefined) {
        const sent = await shell.argumentsOf(example.source);
        assert.deepEqual(JSON.parse(sent[sent.indexOf('-d') + 1] ?? ''), example.body, 'the body of the document');
      }
      await shell.note(example.operationId, output);
    });
  }
});

/** Asserts that a JSON response matches one of the schemas of the document. */
function checkAnswer({ answers }: ShownExample, output: string): void {
  if (answers.length === 0 || !output.startsWith('{')) return;
  const ajv = new Ajv2020({ strict: false });
  assert.ok(
    answers.some((schema) => ajv.validate(schema, JSON.parse(output))),
    `the answer does not follow its schema: ${ajv.errorsText()}\n${output}`,
  );
}
