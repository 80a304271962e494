import assert from 'node:assert/strict';
import { test } from 'node:test';
import { purposes } from '@quartermaster/contract';
import { corpusFile, readCorpusManifest } from '../../../../../../test/support/corpus.ts';
import { Problem } from '../../../platform/problem.ts';
import { checkContent } from './content-type-check.ts';

const extensions = [...purposes.record_file.extensions, ...purposes.qa_record_file.extensions];

test('every valid file of the corpus is accepted, and every invalid one is refused', async () => {
  let accepted = 0;
  let refused = 0;
  for (const entry of readCorpusManifest()) {
    const extension = extensions.find((known) => known === entry.path.slice(entry.path.lastIndexOf('.') + 1));
    if (extension === undefined) continue;
    const bytes = corpusFile(entry.path);
    const read = async (at: number, length: number) => bytes.subarray(at, at + length);
    const problem: unknown = await checkContent(extension, { bytes: bytes.length, read }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (entry.expect === 'reject') {
      assert.ok(problem instanceof Problem && problem.status === 422, `${entry.path} was taken`);
      refused += 1;
    } else if (entry.expect !== 'ok_or_error') {
      assert.equal(problem, undefined, entry.path);
      accepted += 1;
    }
  }
  assert.ok(accepted >= 370 && refused >= 2, `${accepted} accepted, ${refused} refused`);
});
