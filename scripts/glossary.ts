// Compares names and sentences with `docs/glossary.md`. It reports each avoided word and then exits with 1.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findAvoidedWords } from './glossary/find-avoided-words.ts';
import { readGlossary } from './glossary/read-glossary.ts';

/** The glossary itself, and texts of third parties. */
const notOurs = /^(docs\/glossary\.md|CHANGELOG\.md|test\/fixtures\/|scripts\/glossary|test\/glossary\.test\.ts)/;

const terms = readGlossary('docs/glossary.md');
// A new file is checked even before it is added to the index.
const listed = [
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '--',
  '*.ts',
  '*.tsx',
  '*.mjs',
  '*.md',
  '*.sql',
  '*.yaml',
];
const files = execFileSync('git', listed, { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !notOurs.test(path) && existsSync(path));
const found = files.flatMap((path) => findAvoidedWords(path, readFileSync(path, 'utf8'), terms));
for (const line of found) console.error(line);
if (found.length > 0) console.error(`${found.length} words that docs/glossary.md avoids`);
process.exitCode = found.length > 0 ? 1 : 0;
