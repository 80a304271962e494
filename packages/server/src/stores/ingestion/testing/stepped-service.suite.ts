import type { TestContext } from 'node:test';
import { openTestService, type TestCollectionsOptions } from '../../collections/testing/test-collections.suite.ts';
import { createSteppedExtractor } from './stepped-extractor.suite.ts';

/** Opens a service with a collection. The test controls each step of the reading of its documents. */
export async function openSteps(t: TestContext, options: TestCollectionsOptions = {}) {
  const extractor = createSteppedExtractor();
  const service = await openTestService(t, { ...options, extractor });
  const project = service.createProject();
  const collectionId = await project.collection();
  const records = `/v1/collections/${collectionId}/records`;
  const contentsOf = (chunks: ReadonlyArray<{ content: string }>) => chunks.map(({ content }) => content);
  const act = (recordId: string, action: string) => project.call('POST', `${records}/${recordId}/${action}`, {});
  return {
    ...service,
    ...project,
    extractor,
    collectionId,
    create: async (content = 'text'): Promise<string> =>
      (await project.call('POST', records, { content })).body.data.record_id,
    get: async (recordId: string) => (await project.call('GET', `${records}/${recordId}`)).body.data,
    update: (recordId: string, body: object) => project.call('POST', `${records}/${recordId}`, body),
    remove: (recordId: string) => project.call('DELETE', `${records}/${recordId}`, {}),
    act,
    retry: (recordId: string) => act(recordId, 'retry'),
    cancel: (recordId: string) => act(recordId, 'cancel'),
    settle: (recordId: string) => project.settled(collectionId, recordId),
    contents: async (): Promise<string[]> =>
      contentsOf((await project.call('GET', `/v1/collections/${collectionId}/chunks?order=asc&limit=100`)).body.data),
    find: async (query_text: string): Promise<string[]> => {
      const body = { query_text, top_k: 20 };
      return contentsOf((await project.call('POST', `/v1/collections/${collectionId}/chunks/query`, body)).body.data);
    },
  };
}
