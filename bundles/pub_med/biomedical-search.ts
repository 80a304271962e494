import type { Handler, HandlerContext, OutboundRequest } from '@quartermaster/plugin-kit';

interface Input {
  readonly query: string;
  readonly journal?: string;
  readonly pub_year?: string;
  readonly max_results: number;
  readonly start: number;
  readonly sort_by: 'relevance' | 'pub_date';
}

interface Summary {
  readonly title?: string;
  readonly authors?: ReadonlyArray<{ readonly name?: string } | null>;
  readonly fulljournalname?: string;
  readonly pubdate?: string;
  readonly volume?: string;
  readonly issue?: string;
  readonly pages?: string;
  readonly articleids?: ReadonlyArray<{ readonly idtype: string; readonly value: string } | null>;
  readonly pubtype?: readonly string[];
}

const utilities = 'https://eutils.ncbi.nlm.nih.gov/entrez/eutils';

/** This plugin needs code, because PubMed requires two calls: one finds ids, and the other describes them. */
export const run: Handler<Input> = async (input, context) => {
  const { max_results: retmax, start: retstart, sort_by: sort } = input;
  const search = await ask(context, 'esearch', { term: termOf(input), retmax, retstart, sort });
  const found = search.esearchresult;
  if (typeof found?.ERROR === 'string') throw new Error(`PubMed: ${found.ERROR.slice(0, 200)}`);
  const ids: readonly string[] = Array.isArray(found?.idlist) ? found.idlist : [];
  const described = ids.length === 0 ? {} : (await ask(context, 'esummary', { id: ids.join(',') })).result;
  return {
    total_results: found?.count ? Number(found.count) : null,
    query_translation: found?.querytranslation ?? null,
    articles: ids.map((pmid) => articleOf(pmid, described?.[pmid] ?? {})),
  };
};

/** The year and the journal narrow the query, whatever its form. */
function termOf({ query, journal, pub_year }: Input): string {
  const parts = [
    journal === undefined ? [] : `"${journal}"[Journal]`,
    pub_year === undefined ? [] : `${pub_year}[pdat]`,
  ];
  const narrowing = parts.flat();
  return narrowing.length === 0 ? query : [`(${query})`, ...narrowing].join(' AND ');
}

async function ask(context: HandlerContext, utility: string, query: OutboundRequest['query']) {
  const url = `${utilities}/${utility}.fcgi`;
  const { status, text } = await context.fetch({
    url,
    query: { db: 'pubmed', retmode: 'json', tool: 'quartermaster', ...query },
  });
  if (status !== 200) throw new Error(`PubMed answered with status ${status}`);
  return JSON.parse(text);
}

function articleOf(pmid: string, summary: Summary) {
  const id = (type: string) => listOf(summary.articleids).find((article) => article?.idtype === type)?.value;
  return {
    pmid,
    title: plain(String(summary.title ?? '')),
    authors: listOf(summary.authors).flatMap((author) => author?.name ?? []),
    journal: textOrNull(summary.fulljournalname),
    published: textOrNull(summary.pubdate),
    volume: textOrNull(summary.volume),
    issue: textOrNull(summary.issue),
    pages: textOrNull(summary.pages),
    doi: textOrNull(id('doi')),
    pmc_id: textOrNull(id('pmc')),
    publication_types: listOf(summary.pubtype),
    url: `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`,
  };
}

/** A list of an answer that has none is empty. */
function listOf<T>(list: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(list) ? list : [];
}

/** PubMed returns an empty text for a missing value. */
function textOrNull(text: string | null | undefined): string | null {
  return text ? text : null;
}

/** Titles hold tags such as <i>, often escaped. */
function plain(title: string): string {
  const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  const tags = ['i', 'b', 'sub', 'sup'].flatMap((tag) => [`<${tag}>`, `</${tag}>`]);
  const text = Object.entries(entities).reduce((known, [from, to]) => known.replaceAll(from, to), title);
  return tags.reduce((known, tag) => known.replaceAll(tag, ''), text);
}
