import type { IncomingHttpHeaders } from 'node:http';
import type { Role } from '@quartermaster/contract';
import type { Caller } from '../../platform/caller.ts';
import type { Clock } from '../../platform/clock.ts';
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts';
import { identify, identifyStanding, type ReceivedRequest } from '../../platform/log/request-identity.ts';
import { limitToRole } from '../accounts/roles.ts';
import { apiKeyRejected } from '../projects/problems.ts';
import { hashSecret } from './adapter.ts';
import { type FoundRecord, type OauthRepository, type StoredGrant, standingOfGrant } from './oauth-repository.ts';
import type { AddressName, Resources } from './resources.ts';

/** A token that was found is used for this time without a query, so a revocation is visible in every process within it. */
const cachedMs = 1000;
const mostCached = 10_000;
/** One query at a time looks up all tokens that are waiting, so many guesses cost one query. */
const mostInQuery = 500;
const noteEveryMs = 60_000;

/** The parts of a request that are read. */
export interface SentRequest extends ReceivedRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Authenticates requests with an access token instead of a key. */
export interface AccessTokens {
  /** Whether the request has an access token. */
  isMeant(request: SentRequest): boolean;
  /** @throws Problem APIKEY_VALIDATION_FAILED, the same for unknown, expired and revoked tokens, and for those of another server */
  callerOf(request: SentRequest): Promise<Caller>;
}

export interface AccessTokensDeps {
  readonly repository: OauthRepository;
  readonly clock: Clock;
  readonly resources: Resources;
  readonly address: AddressName;
}

interface Entry {
  readonly caller: Caller;
  readonly resource: string;
  readonly standing: string;
  readonly until: number;
}

export function createAccessTokens({ repository, clock, resources, address }: AccessTokensDeps): AccessTokens {
  const entries = new Map<string, Entry>();
  const notedAt = new Map<string, number>();
  const lookUps = createGroupCommit<string, FoundRecord | undefined>(async (hashes) => {
    const found = await repository.findRecords('AccessToken', [...new Set(hashes)], clock.now());
    const byHash = new Map(found.map((one) => [one.record.hash, one]));
    return hashes.map((hash) => byHash.get(hash));
  }, mostInQuery);

  async function find(hash: string): Promise<Entry | undefined> {
    const now = clock.now();
    const known = entries.get(hash);
    if (known !== undefined && now < known.until) return known;
    entries.delete(hash);
    const found = await lookUps.add(hash);
    if (found?.grant === undefined || found.role === undefined) return undefined;
    const { grant, record, role } = found;
    if (entries.size >= mostCached) entries.clear();
    const entry = {
      caller: callerOf(grant, role, String(record.payload.scope ?? '')),
      resource: grant.resource,
      standing: standingOfGrant(grant.id, role),
      until: now + cachedMs,
    };
    entries.set(hash, entry);
    await noteUse(grant, now);
    return entry;
  }
  async function noteUse({ id, lastUsedAt }: StoredGrant, now: number): Promise<void> {
    if (now - Math.max(lastUsedAt ?? 0, notedAt.get(id) ?? 0) < noteEveryMs) return;
    if (notedAt.size >= mostCached) notedAt.clear();
    notedAt.set(id, now);
    await repository.touchGrant(id, now);
  }
  return {
    isMeant: ({ headers }) => tokenOf(headers.authorization) !== undefined,
    callerOf: async (request) => {
      const entry = await find(hashSecret(tokenOf(request.headers.authorization) ?? ''));
      const [path = ''] = request.url.split('?', 1);
      const isAccepted = entry !== undefined && resources.accepts(address, entry.resource, path.replace(/\/$/, ''));
      if (!isAccepted) throw apiKeyRejected();
      const { caller, standing } = entry;
      identify(request, { project: caller.projectId, key: caller.keyId });
      identifyStanding(request, standing);
      return caller;
    },
  };
}

function tokenOf(authorization: string | undefined): string | undefined {
  return /^Bearer (qmt_[A-Za-z0-9_-]{43})$/i.exec(authorization ?? '')?.[1];
}

/** The id of the grant is in the place of the id of a key: in logs, in records of runs, and in fair shares. */
function callerOf(grant: StoredGrant, role: Role, scope: string): Caller {
  const ofToken = new Set(scope.split(' '));
  const scopes = grant.scopes.filter((name) => ofToken.has(name));
  const { projectId, id: keyId, collections, tools } = grant;
  return { projectId, keyId, permissions: limitToRole({ scopes, collections, tools }, role, [keyId]) };
}
