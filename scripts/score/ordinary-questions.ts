import type { Quartermaster } from '@quartermaster/client';
import { createApi, type FilesApi } from '@quartermaster/client/api';
import { connectClient, settledRecord } from '../../test/support/client.ts';
import { loadOrdinaryDocuments, type OrdinaryQuestion, readOrdinaryQuestions } from './ordinary-documents.ts';
import { withService } from './retrieval-service.ts';

export interface AskedQuestion extends OrdinaryQuestion {
  /** The rank of the first chunk that contains the answer, from 1; null when none of the first 20 does. */
  readonly rank: number | null;
  /** The score of the best chunk; 0 when there is none. */
  readonly best: number;
  readonly isGoodMatch: boolean;
  /** The first three chunks. */
  readonly results: ReadonlyArray<{ readonly score: number; readonly isRight: boolean }>;
}

/** Number of chunks that a question asks for. */
const depth = 20;
/** Number of chunks whose scores are compared with what they hold. */
const comparedResults = 3;

/** Loads all documents into one collection of a new service, through the API, and asks the ordinary questions. */
export async function askOrdinaryQuestions(
  settings: Readonly<Record<string, string>> = {},
): Promise<readonly AskedQuestion[]> {
  return withService(settings, async ({ url, apiKey }) => {
    const client = connectClient({ filesUrl: url, pluginsUrl: `${url}/plugins` }, apiKey);
    const collection = await loadDocuments(client);
    const api = createApi<FilesApi>({ baseUrl: url, headers: () => ({ authorization: `Bearer ${apiKey}` }) });
    const asked: AskedQuestion[] = [];
    for (const each of readOrdinaryQuestions()) {
      const answered = await api.json('POST /v1/collections/{collection_id}/chunks/query', {
        path: { collection_id: collection },
        body: { query_text: each.question, top_k: depth },
      });
      const { data: found, good_match: isGoodMatch } = answered;
      const answer = each.answer === null ? null : normalise(each.answer);
      const hits = found.map(({ content, score }) => ({
        ...{ score, isRight: answer !== null && normalise(content).includes(answer) },
      }));
      const place = hits.findIndex(({ isRight }) => isRight);
      const results = hits.slice(0, comparedResults);
      asked.push({ ...each, rank: place === -1 ? null : place + 1, best: hits[0]?.score ?? 0, isGoodMatch, results });
    }
    return asked;
  });
}

async function loadDocuments(client: Quartermaster): Promise<string> {
  const { collection_id: collection } = await client.collections.create({ name: 'ordinary questions' });
  for (const { path, name, bytes } of loadOrdinaryDocuments()) {
    const { file_id } = await client.files.upload(new Blob([new Uint8Array(bytes)]), { name });
    const created = await client.records.create(collection, { type: 'file', file_id });
    const record = await settledRecord(client, collection, created.record_id);
    if (record.status === 'error') throw new Error(`${path} ended as error: ${record.error?.message}`);
  }
  return collection;
}

/** As the README of the questions says. */
function normalise(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' '); // not untrusted: the documents of the set
}
