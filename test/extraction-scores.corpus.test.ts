import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createAdmission } from '../packages/server/src/platform/admission/admission.ts';
import { createLogger } from '../packages/server/src/platform/log/logger.ts';
import { openExtractor } from '../packages/server/src/stores/extraction/worker/open-extractor.ts';
import { holdBars } from '../scripts/score/bars.ts';
import { readManifest } from '../scripts/score/corpus.ts';
import { measure, type Result } from '../scripts/score/measure.ts';
import { compare } from '../scripts/score/scoreboard.ts';

test('every document of the corpus is read or refused as it should be, and no score is below the scoreboard', async () => {
  const page = readFileSync(new URL('../docs/reference/extraction.md', import.meta.url), 'utf8');
  const extractor = openExtractor({ admission: createAdmission(), logger: createLogger('silent') });
  const results: Result[] = [];
  try {
    for (const entry of readManifest(['pdf', 'docx', 'html', 'md', 'txt']))
      results.push(await measure(extractor, entry));
  } finally {
    await extractor.close();
  }
  assert.ok(results.filter((result) => result.text !== null).length > 150);
  assert.deepEqual(compare(page, results), []);
  const held = holdBars(results);
  assert.ok(held.length >= 7);
  assert.deepEqual(
    held.filter(({ met, excused }) => !met && excused === undefined),
    [],
  );
});
