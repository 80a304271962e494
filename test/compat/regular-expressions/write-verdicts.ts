import { resolve } from 'node:path';
import { filesWithPatterns, findPatterns } from './find-patterns.ts';
import { judgePattern, keyOf, writeCommittedVerdicts } from './judge-pattern.ts';

/* Judges every regular expression and writes the verdicts into the repository. */

const root = resolve(import.meta.dirname, '../../..');
const patterns = filesWithPatterns(root).flatMap((file) => findPatterns(file));
const texts = patterns.flatMap(({ source, flags }) => (source === null ? [] : [{ source, flags }]));
const unique = new Map(texts.map((one) => [keyOf(one.source, one.flags), one]));
const sorted = [...unique].sort(([a], [b]) => (a < b ? -1 : 1));
writeCommittedVerdicts(
  Object.fromEntries(sorted.map(([key, { source, flags }]) => [key, judgePattern(source, flags)])),
);
