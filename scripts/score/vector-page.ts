import { type CoverageScore, coverages, threshold, type VectorScore, type VectorSet } from './vector-scores.ts';

/** The targets of the decision about scores. */
const targets = { belowBetter: 0.02, auc: 0.95, offTopicAbove: 1, belowWords: 0.005 } as const;

const heading = '## With vectors\n';

/** Returns the part of the page about vectors, with its heading. */
export function vectorPartOf(page: string): string {
  const start = page.indexOf(heading);
  return start === -1 ? '' : page.slice(start);
}

const nameOf = ({ questions, documents, common }: VectorSet) =>
  `${questions} → ${documents}${common === 0 ? '' : ', common part'}`;

/** Renders the part of the page about vectors. */
export function describeVectors(scores: readonly VectorScore[], covered: readonly CoverageScore[]): string {
  const rows = scores.map(({ set, ndcg, auc, rightAbove, offTopicAbove, offTopic }) => {
    const cells = [ndcg.words, ndcg.vectors, ndcg.fused].map((value) => value.toFixed(4));
    return `| ${nameOf(set)} | ${cells.join(' | ')} | ${auc.toFixed(3)} | ${Math.round(rightAbove * 100)} % | ${offTopicAbove} of ${offTopic} |`;
  });
  const coverageRows = covered.map(({ set, order, words, fused }) => {
    const cells = fused.map((value) => signed(value - words));
    return `| ${nameOf(set)} | ${order} | ${words.toFixed(4)} | ${cells.join(' | ')} |`;
  });
  return `${heading}
nDCG@10 of \`mode\` \`words\`, \`vectors\` and \`fused\`, through the API with an embedding service that answers with latent-semantic vectors
(TF-IDF over words and their parts, reduced to 100 dimensions; learned from the passages of all four languages together, so they also compare
across languages). *common part*: each cosine c is 0.75 + 0.25 c. *AUC* is the probability that a question whose best hit is right scores
higher than one of 30 off-topic questions. The last columns are right answers and off-topic questions with a score of at least ${threshold}.
Measured by \`npm run script -- retrieval-score --vectors\` with every third question, and below with every fourth. These vectors agree with words more than those of a neural model would.

| questions → documents | words | vectors | fused | AUC | right ≥ ${threshold} | off-topic ≥ ${threshold} |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

A collection loses vectors after its similarities were measured, as when the provider fails during an import. The table shows nDCG@10 of
words alone, and the difference of the fused answer by the share of chunks that have a vector; either the newest chunks lack theirs, or
pseudo-random ones. A collection that was never complete is answered by words alone.

| questions → documents | without | words | ${coverages.map((share) => `${share * 100} %`).join(' | ')} |
| --- | --- | --- | ${coverages.map(() => '---').join(' | ')} |
${coverageRows.join('\n')}

The targets are: fused at most ${targets.belowBetter} below the better ranking, an AUC of at least ${targets.auc}, at most ${targets.offTopicAbove} off-topic question of 30 at the threshold, and at
most ${targets.belowWords} below words at any coverage. ${describeMissed(missedTargets(scores, covered))}
`;
}

function describeMissed(missed: readonly string[]): string {
  return missed.length === 0 ? 'All are met.' : `Missed:\n\n${missed.map((line) => `* ${line}`).join('\n')}`;
}

const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;

/** Returns what misses the targets, one sentence each. */
export function missedTargets(scores: readonly VectorScore[], covered: readonly CoverageScore[]): string[] {
  const ofScores = scores.flatMap(({ set, ndcg, auc, offTopicAbove }) => {
    const name = nameOf(set);
    const lost = Math.max(ndcg.words, ndcg.vectors) - ndcg.fused;
    return [
      ...(lost > targets.belowBetter ? [`${name}: fused is ${lost.toFixed(4)} below the better ranking`] : []),
      ...(auc < targets.auc ? [`${name}: the AUC is ${auc.toFixed(3)}`] : []),
      ...(offTopicAbove > targets.offTopicAbove
        ? [`${name}: ${offTopicAbove} off-topic questions reach ${threshold}`]
        : []),
    ];
  });
  const ofCoverage = covered.flatMap(({ set, order, words, fused }) =>
    fused.flatMap((value, place) =>
      value < words - targets.belowWords
        ? [`${nameOf(set)}: ${order}, ${coverages[place]} with vectors: ${signed(value - words)} against words`]
        : [],
    ),
  );
  return [...ofScores, ...ofCoverage];
}
