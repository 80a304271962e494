import { settledRecord } from './client.ts';
import type { StartedService } from './service.ts';

/** The ids of the objects that the pages show. */
export interface Seeded {
  readonly projectId: string;
  readonly fileId: string;
  readonly collectionId: string;
  readonly recordId: string;
  readonly runId: string;
}

const guide = `# Opening hours

The library opens at nine and closes at six. On Sundays it stays closed.

# Lending

Books may be kept for four weeks. Whoever needs longer asks at the desk.
`;

/** Creates a file, a collection, a ready record and a run through the API with the first key. */
export async function seed({ client, filesUrl, key }: StartedService): Promise<Seeded> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const projects = await (await fetch(`${filesUrl}/v1/projects`, { headers })).json();
  const { data } = projects as { data: Array<{ project_id: string }> }; // the contract of the path
  const upload = { purpose: 'record_file', name: 'guide.md', content: new Blob([guide]) } as const;
  const file = await client.files.upload(upload.content, upload);
  const collection = await client.collections.create({ name: 'Guides', type: 'text' });
  const body = { type: 'file', file_id: file.file_id } as const;
  const record = await client.records.create(collection.collection_id, body);
  await settledRecord(client, collection.collection_id, record.record_id);
  const run = await fetch(`${filesUrl}/plugins/v1/execute`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      bundle_id: 'calculator',
      plugin_id: 'evaluate',
      input_params: { expression: '1+1' },
      credentials: {},
    }),
  });
  const { data: result } = (await run.json()) as { data: { run_id: string } }; // the contract of the path
  return {
    projectId: data[0]?.project_id ?? '',
    fileId: file.file_id,
    collectionId: collection.collection_id,
    recordId: record.record_id,
    runId: result.run_id,
  };
}
