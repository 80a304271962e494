import type { Collection, File as StoredFile } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';

/** What became of a file. `duplicate`: the collection has its content, so nothing was added. */
export type AddResult =
  | { readonly state: 'adding' }
  | { readonly state: 'added' | 'duplicate'; readonly recordId: string }
  | { readonly state: 'failed'; readonly reason: unknown };

const atOnce = 4;

/** Creates records from stored files, four at a time, and keeps the result of each by its id. */
export function useAddFiles(collection: Collection | undefined) {
  const [results, setResults] = useState<ReadonlyMap<string, AddResult>>(new Map());
  const put = (id: string, result: AddResult) => setResults((before) => new Map(before).set(id, result));
  const add = async (files: readonly StoredFile[], { evenTwice }: { readonly evenTwice: boolean }) => {
    if (collection === undefined) return;
    const waiting = [...files];
    const work = async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        put(file.file_id, { state: 'adding' });
        try {
          put(file.file_id, await addFile(collection, file, evenTwice));
        } catch (reason) {
          put(file.file_id, { state: 'failed', reason });
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  };
  return { results, add };
}

async function addFile(collection: Collection, file: StoredFile, evenTwice: boolean): Promise<AddResult> {
  const path = { collection_id: collection.collection_id };
  if (!evenTwice) {
    const query = { sha256: file.sha256, limit: 1 };
    const [same] = await filesApi.data('GET /v1/collections/{collection_id}/records', { path, query });
    if (same !== undefined) return { state: 'duplicate', recordId: same.record_id };
  }
  const type = collection.type === 'qa' ? 'qa_sheet' : 'file';
  const body = { type, file_id: file.file_id } as const;
  const created = await filesApi.data('POST /v1/collections/{collection_id}/records', { path, body });
  if (!('record_id' in created)) throw new Error(file.file_name);
  return { state: 'added', recordId: created.record_id };
}
