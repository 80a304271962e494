import { timingSafeEqual } from 'node:crypto';
import { Problem } from '../../platform/problem.ts';
import { hashSecret } from '../oauth/adapter.ts';
import type { ConnectionRow } from './connection-rows.ts';
import type { ConnectableBundle, ConnectionsDeps, StoredLink } from './connections.ts';

export interface ConnectFlowDeps extends ConnectionsDeps {
  readonly findProject: (projectId: string) => Promise<{ readonly name: string } | undefined>;
  /** @throws Problem REQUEST_VALIDATION_ERROR by the schema of the bundle */
  readonly readCredentials: (bundleId: string, credentials: Record<string, unknown>) => Record<string, unknown>;
  /**
   * Asks the third party whether credentials work, where the bundle declares how.
   * @throws Problem CREDENTIALS_VALIDATION_ERROR when they are wrong, another one when the third party does not say so
   */
  readonly verify: (projectId: string, bundleId: string, credentials: Record<string, unknown>) => Promise<void>;
}

/** Why a page cannot continue. Its person sees a text for it. */
export type ConnectRefusal =
  | 'link_unknown'
  | 'link_used'
  | 'other_browser'
  | 'cancelled'
  | 'too_large'
  | 'refused'
  | 'unavailable'
  | 'misconfigured';

export class ConnectError extends Error {
  readonly refusal: ConnectRefusal;
  /** Known unless the link is unknown. */
  readonly of: Connecting | undefined;
  /** The error code of the provider. */
  readonly code: string | undefined;
  constructor(refusal: ConnectRefusal, of?: Connecting, code?: string) {
    super(refusal);
    this.refusal = refusal;
    this.of = of;
    this.code = code;
  }
}

/** A connection that its end user is about to make. */
export interface Connecting {
  readonly row: ConnectionRow;
  readonly bundle: ConnectableBundle;
  readonly application: string;
  readonly returnUrl: string | null;
}

/** What a browser has begun. */
export interface StoredFlow extends StoredLink {
  readonly browser: string;
}

/** A step that waits with the access that is held under this name. */
export interface StoredHold extends StoredLink {
  readonly held: string;
}

/** The records of the steps, each of which works once. */
export function createSteps({ records, rows, clock, getBundle, findProject }: ConnectFlowDeps) {
  async function connecting(stored: StoredLink): Promise<Connecting> {
    try {
      const row = await rows.get(stored.project_id, stored.connection_id);
      const bundle = getBundle(row.bundleId);
      const project = await findProject(row.projectId);
      return { row, bundle, application: project?.name ?? row.projectId, returnUrl: stored.return_url };
    } catch (error) {
      // The connection, its bundle or its project was deleted.
      if (error instanceof Problem && error.code === 'OBJECT_NOT_FOUND') throw new ConnectError('link_unknown');
      throw error;
    }
  }
  async function find<Payload extends StoredLink>(model: string, secret: string) {
    const found = await records.findRecord(model, hashSecret(secret), clock.now());
    if (found === undefined) throw new ConnectError('link_unknown');
    const stored = found.record.payload as unknown as Payload; // written by `save`, and by `createConnections`
    return { stored, record: found.record, of: await connecting(stored) };
  }
  return {
    find,
    /** @throws ConnectError when it was used, has expired, or its connection was deleted */
    async findHeld({ row }: Connecting, { held }: StoredHold): Promise<ConnectionRow> {
      const found = await rows.findHeld(row, held);
      if (found === undefined) throw new ConnectError('link_unknown');
      return found;
    },
    /** @throws ConnectError unless this browser began the step */
    async findOfBrowser<Payload extends StoredFlow>(model: string, state: string, secret: string) {
      const found = await find<Payload>(model, state);
      const isSame = timingSafeEqual(Buffer.from(found.stored.browser), Buffer.from(hashSecret(secret)));
      if (!isSame) throw new ConnectError('other_browser', found.of);
      return found;
    },
    /** One statement, so that only one of two concurrent requests succeeds. */
    async useOnce(model: string, secret: string, of: Connecting): Promise<void> {
      const now = clock.now();
      const isFirst = await records.useRecord(model, hashSecret(secret), { now, since: now, most: 1 });
      if (!isFirst) throw new ConnectError('link_used', of);
    },
    save: (model: string, secret: string, payload: Record<string, unknown>, expiresAt: number) =>
      records.saveRecord({ model, hash: hashSecret(secret), grantId: null, payload, expiresAt }),
  };
}
