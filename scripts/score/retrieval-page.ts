import type { RetrievalScore } from './retrieval-service.ts';

/** The difference from which a score counts as fallen. Equal scores may come in any order. */
const tolerance = 0.002;

/** Renders the reference page: one line per set, one column per configuration. */
export function describeRetrieval(scores: readonly RetrievalScore[], bars: ReadonlyMap<string, number>): string {
  const names = [...new Set(scores.map((score) => score.configuration))];
  const lines = Object.entries(Object.groupBy(scores, (score) => score.set)).map(([set, ofSet = []]) => {
    const cells = names.map((name) => ofSet.find((score) => score.configuration === name)?.ndcg.toFixed(4) ?? '');
    return `| \`${set}\` | ${(bars.get(set) ?? 0).toFixed(4)} | ${cells.join(' | ')} |`;
  });
  return `# Ranking, measured on sets of real questions

nDCG@10 over the sets of real questions in the test corpus, each with the passage that answers it: one document a record,
everything through the API. Measured by \`npm run script -- retrieval-score\`. Do not edit; a test checks that no number decreases.
*bar* is what another BM25 implementation reaches on the same set. *words* is the service as it starts. Both databases rank
these sets alike.

| set | bar | ${names.join(' | ')} |
| --- | --- | ${names.map(() => '---').join(' | ')} |
${lines.join('\n')}
`;
}

/** Returns what is worse than the page or below the bar, one sentence each. */
export function compareRetrieval(
  page: string,
  scores: readonly RetrievalScore[],
  bars: ReadonlyMap<string, number>,
): string[] {
  const rows = page.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  const heads = rows.find((cells) => cells[0] === 'set') ?? [];
  return scores.flatMap(({ set, configuration, ndcg }) => {
    const bar = bars.get(set);
    if (bar === undefined) return [`${set}: the manifest gives no bar`];
    const cells = rows.find((row) => row[0] === `\`${set}\``) ?? [];
    const was = Number(cells[heads.indexOf(configuration)] || Number.NaN);
    if (Number.isNaN(was)) return [`${set}: the page has no score for ${configuration}`];
    const words = [];
    if (ndcg < was - tolerance) words.push(`${set}: ${configuration} ${was} → ${ndcg.toFixed(4)}`);
    if (ndcg < bar) words.push(`${set}: ${configuration} ${ndcg.toFixed(4)} is below the bar, ${bar}`);
    return words;
  });
}
