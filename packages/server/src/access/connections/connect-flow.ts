import { hash, randomBytes } from 'node:crypto';
import type { Connection, ConnectionConfirmation } from '@quartermaster/contract';
import { serviceSource } from '../../platform/audit/audit.ts';
import type { ProjectProfiles } from '../credential-profiles/resolve-credentials.ts';
import { hashSecret } from '../oauth/adapter.ts';
import {
  ConnectError,
  type ConnectFlowDeps,
  type Connecting,
  createSteps,
  type StoredFlow,
  type StoredHold,
} from './connect-steps.ts';
import type { ConnectionRow, Facts } from './connection-rows.ts';
import { confirmationMs, linkModel, type StoredLink, toWire } from './connections.ts';
import { confirmationInvalid, otherEndUser } from './problems.ts';
import { type ConnectedAccount, ProviderFailure } from './provider.ts';
import { livesOf } from './refresh-connection.ts';
import { createRemovals, isOtherAccount, type Removals } from './remove-connections.ts';

/** An account that waits for the decision of its person. */
export interface Answered extends Connecting {
  readonly account: ConnectedAccount | null;
  readonly scopes: readonly string[];
}

/** What a person has completed. With a confirmation, the connection is not usable before the application sends it. */
export interface Finished extends Connecting {
  readonly confirmation: string | null;
}

/** The steps of an end user in the browser: link, provider, decision. Each step works once. ADR 0029. */
export interface ConnectFlow {
  /** Shows what a link is for, and changes nothing, because programs that preview links open it too. */
  describe(token: string): Promise<Connecting>;
  /** Binds the link to one browser, which gets the secret in a cookie. */
  start(token: string): Promise<Connecting & { readonly state: string; readonly secret: string; readonly url: URL }>;
  /** Stores the credentials that a person has entered. */
  submit(token: string, credentials: Record<string, unknown>): Promise<Finished>;
  /** Exchanges the code, and keeps the tokens until the decision. @returns the connection */
  receive(answer: URLSearchParams, secret: string): Promise<void>;
  describeAnswer(state: string, secret: string): Promise<Answered>;
  decide(state: string, secret: string, isConfirmed: boolean): Promise<Finished>;
  /**
   * Activates a connection whose browser returned to the application, which says who is signed in there. Another person gets nothing:
   * the access is revoked at the provider.
   */
  confirm(user: ProjectProfiles, id: string, body: ConnectionConfirmation): Promise<Connection>;
}

const flowModel = 'ConnectFlow';
const answerModel = 'ConnectAnswer';
const confirmationModel = 'ConnectConfirmation';

type StoredAnswer = StoredFlow & StoredHold;

export function createConnectFlow(deps: ConnectFlowDeps): ConnectFlow {
  const { clock, providers, rows } = deps;
  const steps = createSteps(deps);
  const removals = createRemovals(deps);
  const redirectUri = () => redirectUriOf(deps.baseUrl());

  async function describe(token: string): Promise<Connecting> {
    const { record, of } = await steps.find<StoredLink>(linkModel, token);
    if (record.consumedAt !== null) throw new ConnectError('link_used', of);
    return of;
  }

  async function providerOf({ row, bundle: { oauth } }: Connecting) {
    if (oauth === undefined) throw new ConnectError('link_unknown');
    return await deps.clients.getProvider(row.bundleId, oauth);
  }

  /** Activates the connection, or keeps it until the application confirms it. */
  async function finish(of: Connecting, held: ConnectionRow): Promise<Finished> {
    if (of.returnUrl === null) {
      await activate(deps, removals, of.row, held);
      return { ...of, confirmation: null };
    }
    const confirmation = randomBytes(32).toString('base64url');
    const link = { connection_id: of.row.id, project_id: of.row.projectId, return_url: of.returnUrl };
    const stored: StoredHold = { ...link, held: held.name };
    await steps.save(confirmationModel, confirmation, { ...stored }, clock.now() + confirmationMs);
    return { ...of, confirmation };
  }

  return {
    describe,
    async start(token) {
      const of = await describe(token);
      const provider = await providerOf(of);
      await steps.useOnce(linkModel, token, of);
      const { stored, record } = await steps.find<StoredLink>(linkModel, token);
      const [state, secret] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      const flow: StoredFlow = { ...stored, browser: hashSecret(secret) };
      await steps.save(flowModel, state, { ...flow }, record.expiresAt);
      const scopes = of.row.connection.asked;
      const request = { state, verifier: verifierOf(secret), redirectUri: redirectUri(), scopes };
      return { ...of, state, secret, url: await providers.authorizationUrl(provider, request) };
    },
    async submit(token, given) {
      const of = await describe(token);
      if (of.bundle.oauth !== undefined) throw new ConnectError('link_unknown');
      const { projectId, bundleId } = of.row;
      const credentials = deps.readCredentials(bundleId, given);
      await deps.verify(projectId, bundleId, credentials);
      await steps.useOnce(linkModel, token, of);
      const facts = { account: null, accessExpiresAt: null, refreshAt: null };
      return await finish(of, await removals.hold(of.row, { credentials }, facts));
    },
    async receive(answer, secret) {
      const state = answer.get('state') ?? '';
      const { stored, record, of } = await steps.findOfBrowser<StoredFlow>(flowModel, state, secret);
      const provider = await providerOf(of);
      await steps.useOnce(flowModel, state, of);
      const held = await exchange(deps, of, async () => {
        const request = { state, verifier: verifierOf(secret), redirectUri: redirectUri(), scopes: [] };
        const given = await providers.exchange(provider, answer, request);
        const scopes = given.scopes ?? of.row.connection.asked;
        const secrets = { credentials: { [provider.oauth.credential]: given.access }, refresh: given.refresh };
        return await removals.hold(of.row, secrets, { account: null, scopes, ...livesOf(given, clock.now()) });
      });
      try {
        const account = await providers.findAccount(
          provider.oauth,
          String(rows.open(held).credentials[provider.oauth.credential]),
        );
        await rows.mark(held, { account });
        const waiting: StoredAnswer = { ...stored, held: held.name };
        await steps.save(answerModel, state, { ...waiting }, record.expiresAt);
      } catch (error) {
        await removals.remove(held);
        throw refusalOf(deps, of, error);
      }
    },
    async describeAnswer(state, secret) {
      const { stored, record, of } = await steps.findOfBrowser<StoredAnswer>(answerModel, state, secret);
      if (record.consumedAt !== null) throw new ConnectError('link_used', of);
      const { account, scopes } = (await steps.findHeld(of, stored)).connection;
      return { ...of, account, scopes };
    },
    async decide(state, secret, isConfirmed) {
      const { stored, of } = await steps.findOfBrowser<StoredAnswer>(answerModel, state, secret);
      await steps.useOnce(answerModel, state, of);
      const held = await steps.findHeld(of, stored);
      if (isConfirmed) return await finish(of, held);
      deps.countEvent('refused');
      await removals.remove(held);
      throw new ConnectError('cancelled', of);
    },
    confirm: createConfirm(deps, steps, removals),
  };
}

function createConfirm(
  deps: ConnectFlowDeps,
  steps: ReturnType<typeof createSteps>,
  removals: Removals,
): ConnectFlow['confirm'] {
  return async ({ projectId, permissions }, id, { confirmation, end_user: endUser, preview = false }) => {
    const row = await deps.rows.get(projectId, id, permissions);
    try {
      const { stored, of } = await steps.find<StoredHold>(confirmationModel, confirmation);
      if (of.row.id !== row.id) throw confirmationInvalid();
      const held = await steps.findHeld(of, stored);
      const isSame = endUser === row.connection.endUser;
      if (isSame && preview) return { ...toWire(row), account: held.connection.account };
      await steps.useOnce(confirmationModel, confirmation, of);
      if (isSame) await activate(deps, removals, row, held);
      else {
        deps.countEvent('refused');
        const isRevoked = await removals.remove(held);
        const details = { reason: 'other_end_user' };
        await deps.audit.record(serviceSource, { action: 'connection.refused', id, projectId: row.projectId, details });
        throw otherEndUser(id, isRevoked);
      }
    } catch (error) {
      throw error instanceof ConnectError ? confirmationInvalid() : error;
    }
    return toWire(await deps.rows.get(projectId, id, permissions));
  };
}

/** Replaces credentials and facts, also when the row was changed since, for example by a new encryption key. */
async function activate(
  { rows, countEvent }: ConnectFlowDeps,
  removals: Removals,
  row: ConnectionRow,
  held: ConnectionRow,
): Promise<void> {
  const { account, scopes, accessExpiresAt, refreshAt } = held.connection;
  const active = { status: 'active', reason: null, account, scopes, accessExpiresAt, refreshAt } as const;
  const secrets = rows.open(held);
  /** Access to other accounts, kept before it is replaced. */
  const replaced: ConnectionRow[] = [];
  for (let current = row; ; current = await rows.get(row.projectId, row.id)) {
    if (isOtherAccount(current.connection, held.connection)) {
      replaced.push(await rows.hold(current, rows.open(current), {}));
    }
    if (await rows.save(current, secrets, active)) break;
  }
  countEvent('connected');
  // What the connection uses now is not revoked.
  await Promise.all([held, ...replaced].map(removals.remove));
}

/**
 * Exchanges the code. A process that ends before the answer is stored leaves a connection that says so. One that is active stays so,
 * because its tokens still work, also when another link has made it active meanwhile.
 */
async function exchange<Value>(deps: ConnectFlowDeps, of: Connecting, run: () => Promise<Value>): Promise<Value> {
  const { rows } = deps;
  const { row } = of;
  const { status, reason } = row.connection;
  const inDoubt = { status: 'reconnect_required', reason: 'outcome_unknown' } as const;
  await rows.mark(row, inDoubt, ({ connection }) => connection.status !== 'active');
  const restore = async (facts: Facts) =>
    rows.mark(await rows.get(row.projectId, row.id), facts, ({ connection }) => connection.reason === inDoubt.reason);
  try {
    const value = await run();
    await restore({ status, reason });
    return value;
  } catch (error) {
    if (error instanceof ProviderFailure && error.kind !== 'unavailable') {
      await restore({ status, reason: error.kind === 'misconfigured' ? error.code : reason });
    }
    throw refusalOf(deps, of, error);
  }
}

/** What a page says when the provider gives no access. */
function refusalOf({ countEvent }: ConnectFlowDeps, of: Connecting, error: unknown): unknown {
  if (!(error instanceof ProviderFailure)) return error;
  countEvent('refused');
  return new ConnectError(error.code === 'access_denied' ? 'cancelled' : error.kind, of, error.code);
}

export function redirectUriOf(baseUrl: string): string {
  return `${baseUrl.replace(/\/$/, '')}/connect/callback`;
}

/** The verifier of PKCE is computed from the secret of the browser, so the database does not contain it. */
function verifierOf(secret: string): string {
  return hash('sha256', `verifier ${secret}`, 'base64url');
}
