import type { Quartermaster } from '@quartermaster/client';
import { readHandbooks } from './handbooks.ts';
import { loadSet, measureSet, type PassageSet, readSet, retrievalSets } from './retrieval.ts';
import { measureSnowball } from './snowball-bm25.ts';

const heading = '## Beside BM25 with stems\n';
const next = '\n## ';

/** nDCG@10 of the service and of a plain BM25 that knows the language. */
export interface SnowballScore {
  readonly set: string;
  readonly passages: number;
  readonly reference: number;
  readonly service: number;
}

/** Measures the sets of the corpus and of the handbooks, through the API. */
export async function measureBesideSnowball(client: Quartermaster, root?: string): Promise<SnowballScore[]> {
  const scores: SnowballScore[] = [];
  for (const set of [...retrievalSets.map(readSet), ...readHandbooks(root)]) {
    const service = await measureSet(client, set, await loadSet(client, set));
    scores.push({
      set: set.name,
      passages: set.documents.length,
      reference: measureSnowball(set, languageOf(set)),
      service,
    });
  }
  return scores;
}

/** The names of sets end in the language. */
export const languageOf = ({ name }: PassageSet) => name.slice(-2);

/** Returns this part of the page, with its heading. */
export function snowballPartOf(page: string): string {
  const start = page.indexOf(heading);
  if (start === -1) return '';
  const end = page.indexOf(next, start + heading.length);
  return end === -1 ? page.slice(start) : page.slice(start, end + 1);
}

/** Renders the part of the page. */
export function describeSnowball(scores: readonly SnowballScore[]): string {
  const lines = scores.map(
    ({ set, passages, reference, service }) =>
      `| \`${set}\` | ${passages} | ${reference.toFixed(4)} | ${service.toFixed(4)} | ${(service - reference).toFixed(4)} |`,
  );
  return `${heading}
nDCG@10 of the service beside a plain BM25 (k1 1.2, b 0.75) over the same words. It is written separately, scores every passage, knows the
language of the set, and stems with Snowball where that has a stemmer (not Korean, Japanese and Chinese). The sets \`handbook\` and
\`installation\` are sections of Debian's translated handbooks without their headings, cut at 950 tokens, and the headings are the questions. Measured by
\`npm run script -- retrieval-score --snowball\`, with the packages \`debian-handbook\` and \`installation-guide-amd64\`.
In a handbook, the rank of one question changes the figure by up to 0.014.
The signs for French, Korean and Japanese depend on the cut: with 2,500 characters only Japanese is below BM25, with 800 characters French and Korean.

| set | passages | BM25 with stems | words | difference |
| --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}
