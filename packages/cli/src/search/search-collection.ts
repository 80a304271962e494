import type { Quartermaster } from '@quartermaster/client';
import { connect } from '../connection/connection.ts';
import type { ServiceOptions } from '../connection/service-command.ts';
import { printError, printJson, say } from '../output/print.ts';
import { readObject } from '../read-arguments.ts';

export interface SearchOptions extends ServiceOptions {
  readonly topK: number;
  readonly after?: string;
  readonly maxTokens?: number;
  readonly scoreThreshold?: number;
  readonly expand?: number;
  readonly rerank?: true;
  readonly filters?: string;
}

type Query = Parameters<Quartermaster['search']>[1];
type Chunk = Awaited<ReturnType<Quartermaster['search']>>[number];

/**
 * Prints each chunk with its score, its record with its name, and its place in the document. Its neighbours stand around it.
 * @param collections the id of a collection, or several with commas between them
 */
export async function searchCollection(collections: string, question: string, options: SearchOptions): Promise<void> {
  const { topK, after, maxTokens, scoreThreshold, expand, rerank, filters } = options;
  const query = {
    query_text: question,
    top_k: topK,
    ...(after === undefined ? {} : { after }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(scoreThreshold === undefined ? {} : { score_threshold: scoreThreshold }),
    ...(expand === undefined ? {} : { expand }),
    ...(rerank === undefined ? {} : { rerank }),
    ...(filters === undefined ? {} : { filters: readObject(filters, '--filters') }),
  } as Query; // the service checks the filters
  const qm = await connect(options, 'files');
  const chunks = await qm.search(collections.includes(',') ? collections.split(',') : collections, query);
  if (options.json === true) {
    for (const chunk of chunks) printJson(chunk);
    return;
  }
  await warnOfPoorMatch(chunks, options);
  for (const [at, chunk] of chunks.entries()) {
    if (at > 0) say('');
    say(
      `${chunk.score.toFixed(3)}  ${[chunk.record_id ?? chunk.chunk_id, ...nameOf(chunk), ...placeOf(chunk)].join('  ')}`,
    );
    const { before = [], after: following = [] } = chunk.neighbours ?? {};
    for (const { content } of [...before, chunk, ...following])
      for (const line of content.split('\n')) say(`  ${line}`);
  }
}

/** Later pages follow a good match. */
async function warnOfPoorMatch(chunks: readonly Chunk[], { scoreThreshold, after }: SearchOptions): Promise<void> {
  if (chunks.length === 0) {
    printError(
      scoreThreshold === undefined
        ? 'No chunk matches the question.'
        : `No chunk reaches the threshold of ${scoreThreshold}.`,
    );
    return;
  }
  // Loaded after the answer, because the contract is large.
  const { goodScore, matchScore } = await import('@quartermaster/contract');
  const isPoor = scoreThreshold === undefined && matchScore(chunks.map(({ score }) => score)) < goodScore;
  if (isPoor && after === undefined)
    printError('No chunk matches well: the collection may have no answer, or too few chunks to compare with.');
}

function nameOf({ title, file_name, url }: Chunk): string[] {
  const name = title || file_name || url;
  return name ? [name] : [];
}

function placeOf({ locator }: Chunk): string[] {
  if (locator === null) return [];
  const { page, page_end, heading_path: headings = [], sheet, row } = locator;
  return [
    ...(page === undefined
      ? []
      : [page_end === undefined || page_end === page ? `page ${page}` : `pages ${page}-${page_end}`]),
    ...(sheet === undefined ? [] : [`sheet ${sheet}`]),
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(headings.length === 0 ? [] : [headings.join(' > ')]),
  ];
}
