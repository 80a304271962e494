// `npm run script -- retrieval-score` sends real questions about real passages through the API of a new service and writes
// docs/reference/retrieval.md. `--check` writes nothing and fails when a score fell or is below its bar. `--vectors` measures
// with vectors instead, and `--snowball` beside a plain BM25 with stems; each writes its part of the page. `--root FOLDER` names the
// folder that holds the files of the packages of Debian.
import { readFileSync, writeFileSync } from 'node:fs';
import { connectClient } from '../test/support/client.ts';
import { requireCorpus } from '../test/support/corpus.ts';
import { readBars, retrievalSets } from './score/retrieval.ts';
import { compareRetrieval, describeRetrieval } from './score/retrieval-page.ts';
import { configurations, measureRetrieval, type RetrievalScore, withService } from './score/retrieval-service.ts';
import { describeSnowball, measureBesideSnowball, snowballPartOf } from './score/snowball-page.ts';
import { describeVectors, missedTargets, vectorPartOf } from './score/vector-page.ts';
import { coveredSets, measureCoverage, measureVectors, vectorSets } from './score/vector-scores.ts';

requireCorpus();
const page = 'docs/reference/retrieval.md';
const isSnowball = process.argv.includes('--snowball');
const isVectors = process.argv.includes('--vectors');
const bars = readBars();
const scores: RetrievalScore[] = [];
for (const [name, settings] of isVectors || isSnowball ? [] : Object.entries(configurations)) {
  for (const score of await measureRetrieval(name, settings, retrievalSets)) {
    console.log(`${score.set} ${name.padEnd(6)} ${score.ndcg.toFixed(4)}  bar ${bars.get(score.set)}`);
    scores.push(score);
  }
}
const text = readFileSync(page, 'utf8');
if (isSnowball) {
  const root = process.argv[process.argv.indexOf('--root') + 1];
  const measured = await withService({}, ({ url, apiKey }) =>
    measureBesideSnowball(
      connectClient({ filesUrl: url, pluginsUrl: `${url}/plugins` }, apiKey),
      process.argv.includes('--root') ? root : undefined,
    ),
  );
  const part = describeSnowball(measured);
  console.log(part);
  const rest = text.replace(snowballPartOf(text), '').replace(vectorPartOf(text), '').trimEnd();
  writeFileSync(page, [rest, '', part, vectorPartOf(text)].join('\n').trimEnd().concat('\n'));
} else if (isVectors) {
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
  writeFileSync(
    page,
    [describeRetrieval(scores, bars), snowballPartOf(text), vectorPartOf(text)]
      .filter((part) => part !== '')
      .join('\n'),
  );
}
