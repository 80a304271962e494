import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import type { Logger } from '../../../platform/log/logger.ts';
import { Problem } from '../../../platform/problem.ts';
import { maxAddressLength } from './chunk-address.ts';
import type { Knowledge, KnowledgeKey } from './knowledge.ts';
import { resourceTemplates } from './list-resources.ts';

/** Documents may change at any time, so clients cache them briefly. Only the caller may read them, so no cache is shared. */
export const resourceHints = {
  'resources/list': { ttlMs: 10_000, cacheScope: 'private' },
  'resources/templates/list': { ttlMs: 300_000, cacheScope: 'private' },
  'resources/read': { ttlMs: 60_000, cacheScope: 'private' },
} as const;

export interface ResourcesOptions {
  readonly knowledge: Knowledge;
  readonly key: KnowledgeKey;
  readonly logger: Logger;
}

/** Serves the documents of one caller as resources. */
export function handleResources(server: Server, { knowledge, key, logger }: ResourcesOptions): void {
  const answer = async <Result>(work: Promise<Result>, notFound: () => ProtocolError): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Problem && error.code === 'OBJECT_NOT_FOUND') throw notFound();
      if (error instanceof Problem) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
      logger.error({ err: error }, 'resource request failed');
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'The service failed; its log has the reason.');
    }
  };
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler('resources/list', ({ params }) =>
    answer(
      knowledge.listResources(params?.cursor, key),
      () => new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor.'),
    ),
  );
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    answer(knowledge.readResource(uri, key), () => new ResourceNotFoundError(uri.slice(0, maxAddressLength))),
  );
}
