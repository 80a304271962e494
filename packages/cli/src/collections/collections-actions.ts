import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { eachItem } from '../each-item.ts';
import { printJson, say, time } from '../output/print.ts';
import { pageSize, printItem, printItems } from '../output/print-items.ts';
import { readObject } from '../runs/execute-plugin.ts';

export interface Output extends ConnectionOptions {
  readonly json?: true;
}

export interface CreateOptions extends Output {
  readonly type?: 'text' | 'qa';
  readonly description?: string;
  readonly metadata?: string;
  readonly chunkSize?: number;
}

export interface UpdateOptions extends Output {
  readonly name?: string;
  readonly description?: string;
  /** 0 restores the default. */
  readonly chunkSize?: number;
}

export interface ListOptions extends Output {
  readonly limit: number;
}

export async function createCollection(name: string | undefined, options: CreateOptions): Promise<void> {
  const { type, description, metadata, chunkSize } = options;
  const body = {
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, '--metadata') }),
    ...(chunkSize === undefined ? {} : { chunking: toChunking(chunkSize) }),
  };
  const qm = await connect(options, 'files');
  const collection = await qm.collections.create(body);
  if (options.json === true) printJson(collection);
  else say(collection.collection_id);
}

/** Changes the members that are given. Another size splits the records again in the background. */
export async function updateCollection(collectionId: string, options: UpdateOptions): Promise<void> {
  const { name, description, chunkSize } = options;
  const body = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(chunkSize === undefined ? {} : { chunking: toChunking(chunkSize) }),
  };
  const qm = await connect(options, 'files');
  printItem(await qm.collections.update(collectionId, body), options.json);
}

const toChunking = (size: number) => (size === 0 ? {} : { chunk_size: size });

export async function listCollections({ limit, ...options }: ListOptions): Promise<void> {
  const qm = await connect(options, 'files');
  await printItems(qm.collections.list({ limit: pageSize(limit) }), {
    json: options.json,
    limit,
    count: () => qm.collections.list({ limit: 1, count: true }),
    heads: ['COLLECTION', 'NAME', 'TYPE', 'RECORDS', 'CHUNKS', 'CREATED'],
    row: (one) => [
      ...[one.collection_id, one.name, one.type, String(one.num_records), String(one.num_chunks)],
      time(one.created_timestamp),
    ],
  });
}

export async function getCollection(collectionId: string, options: Output): Promise<void> {
  const qm = await connect(options, 'files');
  printItem(await qm.collections.get(collectionId), options.json);
}

export interface FailureOptions extends ListOptions {
  readonly retry: boolean;
}

export async function listFailures(collectionId: string, { limit, retry, ...options }: FailureOptions): Promise<void> {
  const qm = await connect(options, 'files');
  if (retry) {
    const { embedding } = await qm.collections.retryEmbeddingFailures(collectionId);
    if (options.json === true) printJson(embedding);
    else say(`Chunks that wait for their vector: ${embedding?.num_pending ?? 0}`);
    return;
  }
  await printItems(qm.collections.embeddingFailures(collectionId, { limit: pageSize(limit) }), {
    json: options.json,
    limit,
    count: () => qm.collections.embeddingFailures(collectionId, { limit: 1, count: true }),
    heads: ['CHUNK', 'RECORD', 'NEXT ATTEMPT', 'REASON'],
    row: (one) => [
      ...[one.chunk_id, one.record_id ?? ''],
      one.next_attempt_timestamp === null ? 'refused' : time(one.next_attempt_timestamp),
      one.reason ?? '',
    ],
  });
}

export async function deleteCollections(collectionIds: readonly string[], options: Output): Promise<void> {
  const qm = await connect(options, 'files');
  await eachItem(collectionIds, async (collectionId) => {
    await qm.collections.delete(collectionId);
    if (options.json === true) printJson({ collection_id: collectionId, deleted: true });
  });
}
