import type { IncomingMessage } from 'node:http';
import { mountedOperations } from '@quartermaster/contract/operations';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../caller.ts';
import type { App } from './app.ts';
import { maxHeaderBytes } from './create-app.ts';
import type { Guard } from './guard.ts';

export interface PluginsMountDeps {
  readonly guard: Guard;
  /** The callers that the files address has authenticated, for the plugins address. */
  readonly mounted: WeakMap<IncomingMessage, Caller>;
  /** The server of the plugins address. */
  readonly plugins: App;
}

/** The path at the files address below which it serves the plugins address. */
export const mountPath = '/plugins';
const methods = { GET: 'readPluginsAddress', POST: 'callPluginsAddress', DELETE: 'deleteAtPluginsAddress' } as const;

/**
 * Serves `/v1/…` of the plugins address as `/plugins/v1/…` of the files address, for a key of scope `plugins:read` or a
 * session. The routes check what else they need. The console's pages then use only their own origin, and no address has to allow other origins.
 */
export function mountPlugins(app: App, deps: PluginsMountDeps): void {
  const reads = deps.guard.requires('plugins:read');
  const deletes = deps.guard.requires('plugins');
  async function handOver(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await (request.method === 'DELETE' ? deletes : reads)(request, reply);
    const { raw } = request;
    deps.mounted.set(raw, deps.guard.callerOf(request));
    raw.url = (raw.url ?? '').slice(mountPath.length);
    raw.headers['x-request-id'] = request.id;
    reply.hijack();
    deps.plugins.routing(raw, reply.raw);
  }
  for (const [method, operationId] of Object.entries(methods)) {
    app.route({
      method,
      url: `${mountPath}/v1/*`,
      exposeHeadRoute: false,
      onRequest: handOver,
      schema: {
        ...mountedOperations[operationId],
        params: Type.Object({ '*': Type.String({ maxLength: maxHeaderBytes, description: 'The rest of the path.' }) }),
      },
      handler: () => Promise.reject(new Error('the request was forwarded')),
    });
  }
}
