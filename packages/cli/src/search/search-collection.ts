import type { Quartermaster } from '@quartermaster/client';
import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { printError, printJson, say } from '../output/print.ts';
import { readObject } from '../runs/execute-plugin.ts';

export interface SearchOptions extends ConnectionOptions {
  readonly json?: true;
  readonly topK: number;
  readonly after?: string;
  readonly maxTokens?: number;
  readonly filters?: string;
}

type Query = Parameters<Quartermaster['search']>[1];
type Chunk = Awaited<ReturnType<Quartermaster['search']>>[number];

/** Prints each chunk with its score, its record with its name, and its place in the document. */
export async function searchCollection(collectionId: string, question: string, options: SearchOptions): Promise<void> {
  const { topK, after, maxTokens, filters } = options;
  const query = {
    query_text: question,
    top_k: topK,
    ...(after === undefined ? {} : { after }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(filters === undefined ? {} : { filters: readObject(filters, '--filters') }),
  } as Query; // the service checks the filters
  const qm = await connect(options, 'files');
  const chunks = await qm.search(collectionId, query);
  if (options.json === true) {
    for (const chunk of chunks) printJson(chunk);
    return;
  }
  if (chunks.length === 0) printError('No chunk matches the question.');
  for (const [at, chunk] of chunks.entries()) {
    if (at > 0) say('');
    say(
      `${chunk.score.toFixed(3)}  ${[chunk.record_id ?? chunk.chunk_id, ...nameOf(chunk), ...placeOf(chunk)].join('  ')}`,
    );
    for (const line of chunk.content.split('\n')) say(`  ${line}`);
  }
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
