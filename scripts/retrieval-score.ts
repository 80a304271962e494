// `npm run score:retrieval` sends real questions about real passages through the API of a new service and writes
// docs/reference/retrieval.md. `--check` writes nothing and fails when a score fell or is below its bar.
import { readFileSync, writeFileSync } from 'node:fs';
import { readBars, retrievalSets } from './score/retrieval.ts';
import { compareRetrieval, describeRetrieval } from './score/retrieval-page.ts';
import { configurations, measureRetrieval, type RetrievalScore } from './score/retrieval-service.ts';

const page = 'docs/reference/retrieval.md';
const bars = readBars();
const scores: RetrievalScore[] = [];
for (const [name, settings] of Object.entries(configurations)) {
  for (const score of await measureRetrieval(name, settings, retrievalSets)) {
    console.log(`${score.set} ${name.padEnd(6)} ${score.ndcg.toFixed(4)}  bar ${bars.get(score.set)}`);
    scores.push(score);
  }
}
if (process.argv.includes('--check')) {
  const worse = compareRetrieval(readFileSync(page, 'utf8'), scores, bars);
  for (const line of worse) console.error(line);
  process.exitCode = worse.length > 0 ? 1 : 0;
} else {
  writeFileSync(page, describeRetrieval(scores, bars));
}
