import { workerData } from 'node:worker_threads';
import { type CodeTable, createCodeTable, tableBytes } from './code-table.ts';
import type { IndexAnswer, IndexRequest, IndexStart } from './vector-index-protocol.ts';

/* This thread stores and searches the codes, so that the event loop does not. */

const start = workerData as IndexStart; // as openVectorIndex starts it
/** In the order of use, because a Map preserves the order of insertion. */
const tables = new Map<string, CodeTable>();

function add({ space, width, seqs, codes }: Extract<IndexRequest, { kind: 'add' }>): string[] {
  const table = tables.get(space) ?? createCodeTable(width);
  const others = [...tables].filter(([name]) => name !== space);
  let free = start.memory - table.bytes - tableBytes(seqs.length, width);
  for (const [, other] of others) free -= other.bytes;
  const dropped: string[] = [];
  for (const [name, other] of others) {
    if (free >= 0) break;
    free += other.bytes;
    dropped.push(name);
  }
  if (free < 0) dropped.push(space);
  else {
    table.add(seqs, codes);
    touch(space, table);
  }
  for (const name of dropped) tables.delete(name);
  return dropped;
}

function touch(space: string, table: CodeTable): void {
  tables.delete(space);
  tables.set(space, table);
}

function nearest({ space, query, count }: Extract<IndexRequest, { kind: 'nearest' }>): Float64Array | null {
  const table = tables.get(space);
  if (table === undefined) return null;
  touch(space, table);
  return table.nearest(query, count);
}

function answer(request: IndexRequest): IndexAnswer {
  const { id } = request;
  if (request.kind === 'add') return { id, dropped: add(request) };
  if (request.kind === 'nearest') return { id, seqs: nearest(request) };
  if (request.kind === 'forget') tables.delete(request.space);
  return { id, dropped: [] };
}

start.port.on('message', (request: IndexRequest) => {
  start.port.postMessage(answer(request));
  if (request.kind === 'close') start.port.close();
});
