import { chunkOperations, recordOperations } from '@quartermaster/contract/operations';
import type { FastifyRequest } from 'fastify';
import { whileConnected } from '../../../platform/client-gone.ts';
import { successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import type { Guard } from '../../../platform/http/guard.ts';
import { withScope } from '../../../platform/with-scope.ts';
import { matchesAny } from '../../files/file-content.ts';
import { keyOf, ofRecord } from '../records/record-routes.ts';
import type { RecordPages } from './record-pages.ts';

/** No browser runs anything of the answer, and only the browser of the caller may keep it, after asking again. */
const pictureHeaders = {
  'Content-Type': 'image/png',
  'Content-Disposition': 'inline',
  'Cache-Control': 'private, no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
};

/** Passages on the pages of PDF documents. Source: docs/contract.md "Collections, records, chunks". */
export function pageRoutes(app: App, { guard, pages }: { readonly guard: Guard; readonly pages: RecordPages }): void {
  const ownerOf = (request: FastifyRequest) => {
    const { projectId, keyId } = guard.callerOf(request);
    return { projectId, keyId };
  };
  app.get(
    '/v1/collections/:collection_id/chunks/:chunk_id/boxes',
    withScope(guard, chunkOperations.getChunkBoxes),
    (request, reply) =>
      whileConnected(reply, async (signal) => {
        const { collection_id: collectionId, chunk_id: chunkId } = request.params;
        const owner = ownerOf(request);
        const key = { projectId: owner.projectId, collectionId, chunkId };
        return successEnvelope(await pages.boxes(key, { owner, signal }));
      }),
  );
  app.get(
    `${ofRecord}/pages/:page/picture`,
    { ...withScope(guard, recordOperations.getPagePicture), exposeHeadRoute: false },
    (request, reply) =>
      whileConnected(reply, async (signal) => {
        const key = keyOf(guard, request, request.params);
        const picture = await pages.picture(key, Number(request.params.page), request.query);
        reply.headers({ ...pictureHeaders, ETag: picture.etag });
        if (matchesAny(request.headers['if-none-match'], picture.etag)) return reply.code(304).send();
        return reply.send(await picture.draw({ owner: ownerOf(request), signal }));
      }),
  );
}
