import { hash } from 'node:crypto';
import type { Payload } from 'oidc-provider';
import type { Clock } from '../../platform/clock.ts';
import type { OauthRepository, StoredGrant, StoredRecord } from './oauth-repository.ts';

/** Within this time a refresh token that was used yields further pairs, because clients retry and share tokens. */
export const graceMs = 60_000;
/** The maximum number of pairs that one refresh token yields, and of unused refresh tokens of a consent. The newest remain. */
export const mostPairs = 10;

/** The storage port of the library, for one of its models. Expiry and grace are decided here, by our clock. */
export interface Adapter {
  upsert(id: string, payload: Payload, expiresIn: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<Payload | undefined>;
  findByUserCode(userCode: string): Promise<undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  /** Does nothing: codes and tokens without a usable grant do not exist. */
  revokeByGrantId(grantId: string): Promise<void>;
}

export interface AdapterDeps {
  readonly repository: OauthRepository;
  readonly clock: Clock;
  /** Returns the metadata of an application. */
  readonly findClient: (id: string) => Promise<Payload | undefined>;
  /** Creates the error of the library for a code or token that can no longer be used. */
  readonly refuse: (reason: string) => Error;
  readonly onEvent: (event: AdapterEvent, grantId: string) => Promise<void> | void;
}

/** `shared`: a refresh token was used again within the grace time. */
export type AdapterEvent = 'code_reused' | 'token_reused' | 'shared' | 'revoked';

/** The secret itself is stored nowhere: the library finds its own texts by their hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/**
 * Creates the function that gives the library its storage. Only a hash of an id is stored, because ids of codes and tokens are
 * the codes and tokens. The library reads and uses a code in two steps, so `consume` decides between two processes.
 */
export function createAdapter(deps: AdapterDeps): (model: string) => Adapter {
  return (model) => {
    if (model === 'Client') return { ...nothing, find: deps.findClient };
    if (model === 'Grant') return createGrantAdapter(deps);
    // Each request begins a session of its own: the session of the console decides who consents.
    if (model === 'Session') return nothing;
    return createRecordAdapter(model, deps);
  };
}

const nothing: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

/** The page of consent creates grants. The library only reads and ends them. */
function createGrantAdapter({ repository, clock, onEvent }: AdapterDeps): Adapter {
  return {
    ...nothing,
    find: async (id) => {
      const grant = await repository.findGrant(id);
      return grant === undefined || !isUsable(grant, clock.now()) ? undefined : grantPayload(grant);
    },
    destroy: async (id) => {
      if (await repository.revokeGrant(id, clock.now())) await onEvent('revoked', id);
    },
  };
}

export function isUsable({ revokedAt, expiresAt }: StoredGrant, now: number): boolean {
  return revokedAt === null && expiresAt > now;
}

function grantPayload(grant: StoredGrant): Payload {
  return {
    kind: 'Grant',
    jti: grant.id,
    iat: Math.floor(grant.createdAt / 1000),
    exp: Math.floor(grant.expiresAt / 1000),
    accountId: grant.accountId,
    clientId: grant.clientId,
    resources: { [grant.resource]: grant.scopes.join(' ') },
  };
}

const ofGrants: ReadonlySet<string> = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);
/** How often a code and a refresh token can be exchanged. */
const mostUses: Readonly<Record<string, number>> = { AuthorizationCode: 1, RefreshToken: mostPairs };

function createRecordAdapter(model: string, deps: AdapterDeps): Adapter {
  const { repository, clock, refuse, onEvent } = deps;
  const most = mostUses[model] ?? 0;

  async function endGrant(grantId: string): Promise<void> {
    if (await repository.revokeGrant(grantId, clock.now())) await onEvent('code_reused', grantId);
  }
  return {
    ...nothing,
    upsert: async (id, payload, expiresIn) => {
      const grantId = typeof payload.grantId === 'string' && ofGrants.has(model) ? payload.grantId : null;
      const record = { model, hash: hashSecret(id), grantId, payload: withoutSecrets(payload, id) };
      await repository.saveRecord({ ...record, expiresAt: clock.now() + expiresIn * 1000 });
      // Siblings could yield siblings without end.
      if (model === 'RefreshToken' && grantId !== null) await repository.keepNewest(model, grantId, mostPairs);
    },
    find: async (id) => {
      const found = await repository.findRecord(model, hashSecret(id), clock.now());
      if (found === undefined) return undefined;
      const { record } = found;
      const payload = withSecrets(record.payload, id);
      if (record.consumedAt === null) return payload;
      if (model === 'RefreshToken' && isWithinGrace(record, clock.now())) {
        return record.uses < mostPairs ? payload : undefined;
      }
      if (record.grantId !== null)
        await onEvent(model === 'RefreshToken' ? 'token_reused' : 'code_reused', record.grantId);
      return { ...payload, consumed: Math.floor(record.consumedAt / 1000) };
    },
    consume: async (id) => {
      const [secret, now] = [hashSecret(id), clock.now()];
      if (await repository.useRecord(model, secret, { now, since: now - graceMs, most })) {
        const found = await repository.findRecord(model, secret, now);
        if (found?.record.grantId && found.record.uses > 1) await onEvent('shared', found.record.grantId);
        return;
      }
      const found = await repository.findRecord(model, secret, now);
      // Another process has used the code in between: its token must not remain valid.
      if (model === 'AuthorizationCode' && found?.record.grantId) await endGrant(found.record.grantId);
      throw refuse(`${model} used before`);
    },
    destroy: async (id) => {
      const isRemoved = await repository.removeRecord(model, hashSecret(id));
      // The library removes a request before it creates the code. Only one of several calls may create one.
      if (model === 'Interaction' && !isRemoved) throw refuse('request used before');
    },
  };
}

function isWithinGrace({ consumedAt }: StoredRecord, now: number): boolean {
  return consumedAt !== null && consumedAt > now - graceMs;
}

/** The library puts the id into the payload, and into the URL to which a decision returns. */
function withoutSecrets({ jti: _id, returnTo, ...payload }: Payload, id: string): Payload {
  return typeof returnTo === 'string' ? { ...payload, returnTo: returnTo.replace(id, '') } : payload;
}

function withSecrets(payload: StoredRecord['payload'], id: string): Payload {
  const { returnTo } = payload;
  return { ...payload, jti: id, ...(typeof returnTo === 'string' ? { returnTo: returnTo + id } : {}) };
}
