// `npm run script -- extraction-score` extracts every document of the corpus, compares it with the ground truth and writes
// docs/reference/extraction.md. `--check` writes nothing and fails when a score fell or an expectation is not met.
// `--list [PART OF A PATH]` prints single files.

import { readFileSync, writeFileSync } from 'node:fs';
import { createAdmission } from '../packages/server/src/platform/admission/admission.ts';
import { createLogger } from '../packages/server/src/platform/log/logger.ts';
import { openExtractor } from '../packages/server/src/stores/extraction/worker/open-extractor.ts';
import { requireCorpus } from '../test/support/corpus.ts';
import { readManifest } from './score/corpus.ts';
import { measure, type Result } from './score/measure.ts';
import { compare, describe, summarize, toLine } from './score/scoreboard.ts';

requireCorpus();
const page = 'docs/reference/extraction.md';
const part = process.argv.includes('--list') ? (process.argv.at(-1) ?? '') : '';
const entries = readManifest(['pdf', 'docx', 'html', 'md', 'txt']);
const wanted = entries.filter((entry) => part === '--list' || entry.path.includes(part));
const extractor = openExtractor({ admission: createAdmission(), logger: createLogger('silent') });
const results: Result[] = [];
try {
  for (const entry of wanted) results.push(await measure(extractor, entry));
} finally {
  await extractor.close();
}

if (process.argv.includes('--list')) for (const result of results) console.log(toLine(result));
console.log(summarize(results));
if (process.argv.includes('--check')) {
  const worse = compare(readFileSync(page, 'utf8'), results);
  for (const line of worse) console.error(line);
  process.exitCode = worse.length > 0 ? 1 : 0;
} else if (!process.argv.includes('--list')) {
  writeFileSync(page, describe(results));
  console.log(`wrote ${page}`);
}
