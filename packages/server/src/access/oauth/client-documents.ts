import type { CommonDeps } from '../../platform/common-deps.ts';
import type { EgressResult, Outbound, OutboundPolicy } from '../../platform/outbound.ts';
import { hashSecret } from './adapter.ts';
import { type ClientMetadata, isDocumentUrl, MetadataError, readDocument } from './client-metadata.ts';
import type { OauthRepository, StoredClient } from './oauth-repository.ts';

const minute = 60_000;
const day = 1440 * minute;
const bounds = {
  fetchesOfHost: 10,
  fetches: 60,
  timeoutMs: 5000,
  documentBytes: 16 * 1024,
  keyBytes: 64 * 1024,
} as const;
/** A document is used for at least and at most this time without another request. */
const freshness = { least: 5 * minute, most: day } as const;
const failureMs = minute;

export interface ClientDocumentsDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly repository: OauthRepository;
  readonly outbound: Outbound;
  readonly countEvent: (event: 'document_fetched' | 'document_failed') => void;
}

/** Finds applications: by the URL of their metadata document, or by the id of their registration. */
export interface ClientDocuments {
  find(id: string): Promise<(ClientMetadata & { readonly client_id: string }) | undefined>;
  /** Fetches the keys of an application, with the same limits. Replaces the `fetch` of the library. */
  fetchKeys(url: string): Promise<Response>;
}

/**
 * Documents are rows, so that all processes share what was fetched. They are fetched through the egress broker: public addresses,
 * the default port, no redirects, at most 16 KiB in 5 seconds, 10 requests a minute and host. A document that was good is used for
 * another day when its host does not answer.
 */
export function createClientDocuments(deps: ClientDocumentsDeps): ClientDocuments {
  const { repository, clock } = deps;
  const pending = new Map<string, Promise<StoredClient | undefined>>();

  async function load(id: string, known: StoredClient | undefined): Promise<StoredClient | undefined> {
    const now = clock.now();
    const failure = { model: 'DocumentFailure', hash: hashSecret(id) };
    const usable = known !== undefined && known.freshUntil + day > now ? known : undefined;
    if ((await repository.findRecord(failure.model, failure.hash, now)) !== undefined) return usable;
    if (!(await mayFetch(deps, id))) return usable;
    const fetched = await fetchDocument(deps, id);
    if (fetched === undefined) {
      await repository.saveRecord({ ...failure, grantId: null, payload: {}, expiresAt: now + failureMs });
      return usable;
    }
    const { metadata, freshForMs } = fetched;
    const client: StoredClient = {
      id,
      kind: 'document',
      metadata: { ...metadata },
      createdAt: now,
      freshUntil: now + freshForMs,
    };
    noteChange(deps, known, client);
    await repository.saveClient(client);
    return client;
  }
  return {
    find: async (id) => {
      const known = await repository.findClient(id);
      const isDocument = known === undefined ? isDocumentUrl(id) : known.kind === 'document';
      let client = known;
      if (isDocument && (known === undefined || known.freshUntil <= clock.now())) {
        const request = pending.get(id) ?? load(id, known).finally(() => pending.delete(id));
        pending.set(id, request);
        client = await request;
      }
      return client === undefined ? undefined : { ...(client.metadata as unknown as ClientMetadata), client_id: id }; // checked when it was stored
    },
    fetchKeys: async (url) => {
      if (!(await mayFetch(deps, url))) throw new Error('too many requests to this host');
      const result = await send(deps, url, bounds.keyBytes);
      if (result.kind !== 'response') throw new Error(`the keys could not be fetched: ${result.kind}`);
      return new Response(new Uint8Array(result.body), { status: result.status, headers: result.headers });
    },
  };
}

/** Counts the request in the windows of its host and of the service, which all processes share. */
async function mayFetch({ repository, clock }: ClientDocumentsDeps, url: string): Promise<boolean> {
  const window = Math.floor(clock.now() / minute);
  const expiresAt = (window + 1) * minute;
  const count = (name: string, most: number) =>
    repository.countEvent(hashSecret(`fetch ${name} ${window}`), { expiresAt, most });
  return (await count(new URL(url).hostname, bounds.fetchesOfHost)) && (await count('*', bounds.fetches));
}

function send({ outbound }: ClientDocumentsDeps, url: string, maxResponseBytes: number): Promise<EgressResult> {
  const policy: OutboundPolicy = {
    hosts: 'any',
    schemes: new Set(['https']),
    credentials: new Map(),
    inject: [],
    maxResponseBytes,
    maxRedirects: 0,
    timeoutMs: bounds.timeoutMs,
  };
  const request = { method: 'GET', url, headers: { accept: 'application/json' } };
  return outbound.send(request, policy, AbortSignal.timeout(bounds.timeoutMs + 1000));
}

async function fetchDocument(deps: ClientDocumentsDeps, id: string) {
  const fail = (reason: string) => {
    deps.countEvent('document_failed');
    deps.logger.info({ client: id.slice(0, 200), reason }, 'client metadata document refused');
    return undefined;
  };
  const result = await send(deps, id, bounds.documentBytes);
  if (result.kind !== 'response') return fail('message' in result ? result.message : result.kind);
  if (result.status !== 200) return fail(`status ${result.status}`);
  if (!/^application\/(?:[a-z0-9.-]+\+)?json\b/i.test(result.headers['content-type'] ?? '')) return fail('not JSON');
  try {
    const metadata = readDocument(id, JSON.parse(result.body.toString('utf8')));
    deps.countEvent('document_fetched');
    return { metadata, freshForMs: freshFor(result.headers['cache-control'] ?? '') };
  } catch (error) {
    return fail(error instanceof MetadataError ? error.message : 'not valid JSON');
  }
}

function freshFor(cacheControl: string): number {
  const seconds = Number(/\bmax-age=(\d{1,9})\b/.exec(cacheControl)?.[1] ?? 0);
  return Math.min(freshness.most, Math.max(freshness.least, seconds * 1000));
}

/** A new redirect URI or key of a known application may be a takeover of its host. */
function noteChange({ logger }: ClientDocumentsDeps, before: StoredClient | undefined, after: StoredClient): void {
  if (before === undefined) return;
  const changed = ['redirect_uris', 'jwks_uri', 'token_endpoint_auth_method'].filter(
    (name) => JSON.stringify(before.metadata[name]) !== JSON.stringify(after.metadata[name]),
  );
  if (changed.length > 0)
    logger.warn({ event: 'client_changed', client: after.id, changed }, 'client metadata document changed');
}
