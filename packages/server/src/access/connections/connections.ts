import { randomBytes } from 'node:crypto';
import type { Connection, ConnectionCreate, ConnectionLink, ConnectionListQuery } from '@quartermaster/contract';
import type { OauthDeclaration } from '@quartermaster/plugin-kit';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { NewId } from '../../platform/identifier.ts';
import { checkCursors } from '../../platform/list-cursors.ts';
import type { Page } from '../../platform/page.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import type { CredentialProfileRepository } from '../credential-profiles/credential-profile-repository.ts';
import type { Encrypter } from '../credential-profiles/encryption.ts';
import type { ProjectProfiles } from '../credential-profiles/resolve-credentials.ts';
import { hashSecret } from '../oauth/adapter.ts';
import type { OauthRepository } from '../oauth/oauth-repository.ts';
import { type ConnectionRow, isConnection } from './connection-rows.ts';
import { nothingToConnect, tooManyConnections } from './problems.ts';
import type { Providers } from './provider.ts';
import type { RefreshDeps } from './refresh-connection.ts';
import { createRemovals, type Revoked } from './remove-connections.ts';

export const linkMs = 30 * 60_000;
export const confirmationMs = 10 * 60_000;
/** The maximum number of connections in one project. */
const maxConnections = 10_000;
const day = 86_400_000;

/** What a bundle needs from its end users. */
export interface ConnectableBundle {
  readonly id: string;
  readonly name: string;
  /** Absent where a person enters the credentials. */
  readonly oauth?: OauthDeclaration | undefined;
  readonly fields: readonly CredentialField[];
}

export interface CredentialField {
  readonly name: string;
  readonly description: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
}

export interface ConnectionsDeps extends Omit<RefreshDeps, 'providers' | 'repository'> {
  readonly repository: CredentialProfileRepository;
  readonly encrypter: Encrypter | null;
  readonly providers: Providers;
  readonly records: Pick<OauthRepository, 'saveRecord' | 'findRecord' | 'useRecord'>;
  readonly newId: NewId;
  /** @throws Problem OBJECT_NOT_FOUND */
  readonly getBundle: (bundleId: string, permissions?: Permissions) => ConnectableBundle;
  /** The URL below which browsers reach the pages of connections. */
  readonly baseUrl: () => string;
  /** Origins of applications to which browsers may return. */
  readonly returnOrigins: readonly string[];
  readonly countExceeded?: CountExceeded;
}

/** The payload of a link. */
export interface StoredLink {
  readonly connection_id: string;
  readonly project_id: string;
  readonly return_url: string | null;
}
export const linkModel = 'ConnectLink';

/** The accounts that end users connect in the browser. Each is a credential profile that only its id names. ADR 0029. */
export interface Connections {
  create(user: ProjectProfiles, body: ConnectionCreate): Promise<ConnectionLink>;
  list(user: ProjectProfiles, query: ConnectionListQuery): Promise<Page<Connection>>;
  get(user: ProjectProfiles, id: string): Promise<Connection>;
  /** Creates another link, with which the end user connects again. */
  link(user: ProjectProfiles, id: string, returnUrl: string | undefined): Promise<ConnectionLink>;
  remove(user: ProjectProfiles, id: string): Promise<Revoked>;
  removeEndUser(user: ProjectProfiles, endUser: string): Promise<readonly Revoked[]>;
  /** Revokes and removes the connections of projects that are being deleted. */
  removeOfProjects(projectIds: readonly string[]): Promise<void>;
  /**
   * Removes the connections that were not completed within a day, revokes access that was held and not used, and ends deletions that a
   * process began and did not end.
   */
  sweep(): Promise<void>;
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { repository, rows, clock } = deps;
  const { removeDeleting, removeInBackground } = createRemovals(deps);

  function checkReturn(url: string | undefined): string | null {
    if (url === undefined) return null;
    const origin = URL.parse(url)?.origin;
    if (origin !== undefined && deps.returnOrigins.includes(origin)) return url;
    const allowed = deps.returnOrigins.join(', ') || 'none';
    throw fieldInvalid(
      'body/return_url',
      quoteText(url),
      `a URL of an origin in QUARTERMASTER_CORS_ORIGINS (${allowed})`,
    );
  }

  async function createLink(row: ConnectionRow, returnUrl: string | null): Promise<ConnectionLink> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = clock.now() + linkMs;
    const payload: StoredLink = { connection_id: row.id, project_id: row.projectId, return_url: returnUrl };
    const record = { model: linkModel, hash: hashSecret(token), grantId: null, payload: { ...payload } };
    await deps.records.saveRecord({ ...record, expiresAt });
    deps.countEvent('linked');
    const url = `${deps.baseUrl().replace(/\/$/, '')}/connect/${token}`;
    return { ...toWire(row), connect_url: url, expires_timestamp: expiresAt };
  }

  return {
    async create({ projectId, permissions }, { bundle_id: bundleId, end_user: endUser, scopes, return_url }) {
      checkEndUser(endUser);
      const returnUrl = checkReturn(return_url);
      const bundle = deps.getBundle(bundleId, permissions);
      if (bundle.fields.length === 0) throw nothingToConnect(bundleId);
      // The client must exist now, because the end user could do nothing about it.
      if (bundle.oauth !== undefined) await deps.clients.getProvider(bundleId, bundle.oauth);
      const asked = readScopes(bundle, scopes);
      const id = deps.newId('connection');
      const place = { projectId, bundleId, name: id };
      const now = clock.now();
      const unknown = { reason: null, account: null, accessExpiresAt: null, refreshAt: null };
      const connection = { ...unknown, endUser, status: 'pending', asked, scopes: asked } as const;
      const encrypted = rows.encrypt({ credentials: {} }, place);
      const row = { id, ...place, ...encrypted, createdAt: now, updatedAt: now, connection };
      if ((await repository.add(row, maxConnections)) !== 'added') {
        deps.countExceeded?.('connections_of_project');
        throw tooManyConnections(maxConnections);
      }
      return await createLink(row, returnUrl);
    },
    async list({ projectId, permissions }, { bundle_id: bundleId, end_user: endUser, ...query }) {
      const seen = permissions?.bundles ?? null;
      const bundles = bundleId === undefined ? seen : new Set([bundleId].filter((id) => seen?.has(id) !== false));
      if (bundles?.size === 0) return { items: [], hasMore: false };
      const filter = { bundles, endUser, areConnections: true };
      const page = await repository.list(projectId, checkCursors(query, 'connection'), filter);
      return { ...page, items: page.items.filter(isConnection).map(toWire) };
    },
    get: async ({ projectId, permissions }, id) => toWire(await rows.get(projectId, id, permissions)),
    async link({ projectId, permissions }, id, returnUrl) {
      const url = checkReturn(returnUrl);
      const row = await rows.get(projectId, id, permissions);
      const { oauth } = deps.getBundle(row.bundleId, permissions);
      if (oauth !== undefined) await deps.clients.getProvider(row.bundleId, oauth);
      return await createLink(row, url);
    },
    async remove({ projectId, permissions }, id) {
      await rows.get(projectId, id, permissions);
      await repository.markDeleting(projectId, { connectionId: id });
      const [removed = { id, provider: false }] = await removeDeleting(projectId, { connectionId: id });
      return removed;
    },
    async removeEndUser({ projectId, permissions }, endUser) {
      await repository.markDeleting(projectId, { endUser, bundles: permissions?.bundles });
      return await removeDeleting(projectId, { endUser });
    },
    async removeOfProjects(projectIds) {
      for (const projectId of projectIds) {
        await repository.markDeleting(projectId, {});
        await removeInBackground(projectId);
      }
    },
    async sweep() {
      const now = clock.now();
      await repository.expirePending({ createdBefore: now - day, heldBefore: now - linkMs - confirmationMs });
      for (const projectId of await repository.findDeleting()) await removeInBackground(projectId);
    },
  };
}

/** Clients of URLs remove `.` and `..`, so that `DELETE /v1/end_users/..` would not reach the end user. */
function checkEndUser(endUser: string): void {
  if (endUser.isWellFormed() && !/\p{Cc}/u.test(endUser) && endUser !== '.' && endUser !== '..') return;
  throw fieldInvalid('body/end_user', quoteText(endUser), 'an id without control characters that is not "." or ".."');
}

function readScopes({ oauth }: ConnectableBundle, asked: readonly string[] | undefined): readonly string[] {
  const declared = oauth?.scopes ?? [];
  const unknown = asked?.find((scope) => !declared.includes(scope));
  if (unknown === undefined) return asked ?? declared;
  throw fieldInvalid('body/scopes', quoteText(unknown), `some of ${declared.join(', ') || 'none'}`);
}

export function toWire({ id, bundleId, createdAt, updatedAt, connection }: ConnectionRow): Connection {
  const { endUser, status, reason, account, scopes } = connection;
  return {
    object: 'Connection',
    connection_id: id,
    bundle_id: bundleId,
    end_user: endUser,
    status,
    reason,
    account,
    scopes: [...scopes],
    created_timestamp: createdAt,
    updated_timestamp: updatedAt,
  };
}
