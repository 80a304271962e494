// `npm run score:retrieval` sends real questions about real passages through the API of a new service and writes
// docs/reference/retrieval.md. `--check` writes nothing and fails when a score fell or is below its bar. `--vectors` measures
// with vectors instead, and writes that part of the page.
import { readFileSync, writeFileSync } from 'node:fs';
import { readBars, retrievalSets } from './score/retrieval.ts';
import { compareRetrieval, describeRetrieval } from './score/retrieval-page.ts';
import { configurations, measureRetrieval, type RetrievalScore } from './score/retrieval-service.ts';
import { describeVectors, missedTargets, vectorPartOf } from './score/vector-page.ts';
import { coveredSets, measureCoverage, measureVectors, vectorSets } from './score/vector-scores.ts';

const page = 'docs/reference/retrieval.md';
const isVectors = process.argv.includes('--vectors');
const bars = readBars();
const scores: RetrievalScore[] = [];
for (const [name, settings] of isVectors ? [] : Object.entries(configurations)) {
  for (const score of await measureRetrieval(name, settings, retrievalSets)) {
    console.log(`${score.set} ${name.padEnd(6)} ${score.ndcg.toFixed(4)}  bar ${bars.get(score.set)}`);
    scores.push(score);
  }
}
const text = readFileSync(page, 'utf8');
if (isVectors) {
  const measured = await measureVectors(vectorSets, 3);
  const covered = await measureCoverage(coveredSets, 4);
  for (const line of missedTargets(measured, covered)) console.error(line);
  writeFileSync(
    page,
    text.replace(vectorPartOf(text), '').trimEnd().concat('\n\n', describeVectors(measured, covered)),
  );
} else if (process.argv.includes('--check')) {
  const worse = compareRetrieval(text, scores, bars);
  for (const line of worse) console.error(line);
  process.exitCode = worse.length > 0 ? 1 : 0;
} else {
  writeFileSync(page, describeRetrieval(scores, bars).concat('\n', vectorPartOf(text)));
}
