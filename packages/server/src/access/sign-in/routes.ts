import { ProviderAnswer, ProviderSession, SignInWays, Success } from '@quartermaster/contract';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { sourceOf } from '../../platform/audit/audit.ts';
import { successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import { Counter, type Registry } from '../../platform/metrics.ts';
import { Problem } from '../../platform/problem.ts';
import { type AccountRoutesDeps, answerBegun, beginHook, originOf } from '../accounts/routes.ts';
import type { Resources } from '../oauth/resources.ts';
import type { Project } from '../projects/project-repository.ts';
import { type AccessRules, readAccess } from './claimed-access.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { type PendingSignIns, pendingSeconds } from './pending-sign-ins.ts';
import { readReturnPath } from './return-path.ts';

export interface SignInRoutesDeps extends AccountRoutesDeps, Omit<AccessRules, 'projects'> {
  readonly provider: IdentityProvider;
  readonly pending: PendingSignIns;
  readonly resources: Pick<Resources, 'baseOf'>;
  readonly listProjects: () => Promise<Project[]>;
  readonly isPage: (path: string) => boolean;
  readonly signIns: ReturnType<typeof createSignInCounter>;
}

const callbackPath = '/sign-in/callback';

/** Tells the page for signing in whether there is an identity provider. */
export function signInWaysRoute(app: App, issuer: string | null): void {
  app.get('/v1/sign_in', { schema: { hide: true, response: { 200: Success(SignInWays) } } }, () =>
    successEnvelope({ provider: issuer === null ? null : new URL(issuer).host }),
  );
}

/**
 * Serves the sign-in with an identity provider. The provider sends the browser back to a page of the console, which sends the
 * answer here. So the session begins in a request of this origin, which replaces the previous session of the browser, and no URL
 * contains a token. ADR 0175.
 */
export function signInRoutes(app: App, deps: SignInRoutesDeps): void {
  const { cookies, provider, pending, addressOf, isPage } = deps;
  const note = createNotes(deps);
  const redirectUri = (request: FastifyRequest) => deps.resources.baseOf('files', request.headers.host) + callbackPath;
  app.addHook('onReady', () => warnOfUnknownProjects(app, deps));
  app.get(
    '/v1/sign_in/oidc',
    { schema: { hide: true, querystring: Type.Object({ return_to: Type.Optional(Type.String()) }) } },
    async (request, reply) => {
      try {
        const returnTo = readReturnPath(request.query.return_to, isPage);
        const begun = await pending.begin(returnTo, addressOf(request));
        const url = await provider.authorizationUrl({ ...begun, redirectUri: redirectUri(request) });
        note.count('begun');
        reply.header('set-cookie', cookies.writeSignIn(begun.secret, pendingSeconds));
        return reply.code(303).header('location', url.href).send();
      } catch (error) {
        note.failure(request, error);
        if (!(error instanceof Problem)) throw error;
        // A page of the console explains the error, because a person sees the answer.
        const query = new URLSearchParams({ failed: error.code, request_id: request.id });
        const { 'Retry-After': seconds } = error.headers;
        if (seconds !== undefined) query.set('retry_after', seconds);
        return reply
          .code(303)
          .header('location', `${redirectUri(request)}?${query}`)
          .send();
      }
    },
  );
  app.post(
    '/v1/sign_in/oidc',
    {
      onRequest: beginHook(deps),
      schema: { hide: true, body: ProviderAnswer, response: { 200: Success(ProviderSession) } },
    },
    async (request, reply) => {
      try {
        const answer = new URLSearchParams(request.body.answer);
        const secret = cookies.readSignIn(request.headers.cookie) ?? '';
        const state = answer.get('state') ?? '';
        const { returnTo, uncount } = await pending.take(state, secret);
        reply.header('set-cookie', cookies.writeSignIn('', 0));
        const claims = await provider.readClaims(answer, { state, secret, redirectUri: redirectUri(request) });
        const access = readAccess(claims, { ...deps, projects: await deps.listProjects() });
        const replaces = cookies.readSession(request.headers.cookie);
        const origin = { ...originOf(deps, request), replaces };
        const begun = await deps.accounts.signInWith(access.identity, access.claims, access.mayCreate, origin);
        await uncount();
        note.count('signed_in');
        const { data } = answerBegun(deps, reply, begun);
        return successEnvelope({ ...data, return_to: returnTo });
      } catch (error) {
        note.failure(request, error);
        throw error;
      }
    },
  );
}

/** A rule for a project that does not exist gives nothing until the project exists. */
async function warnOfUnknownProjects(app: App, { rules, listProjects }: SignInRoutesDeps): Promise<void> {
  if (rules.length === 0) return;
  const known = new Set(['*', ...(await listProjects()).flatMap(({ id, name }) => [id, name])]);
  for (const { value, project } of rules) {
    if (project === null || known.has(project)) continue;
    app.log.warn({ event: 'unknown_project', claim_value: value, project }, 'role rule names an unknown project');
  }
}

/** Creates the counter, also where nobody can sign in with a provider. */
export function createSignInCounter(registry: Registry) {
  return new Counter({
    name: 'quartermaster_oidc_sign_ins_total',
    help: 'Sign-ins with the identity provider, by outcome: begun, signed_in, throttled, expired, denied, no_access, too_many_groups, unreachable, answer_invalid, error.',
    labelNames: ['outcome'],
    registers: [registry],
  });
}

/** Counts sign-ins, and logs refusals and failures with their reason. */
function createNotes({ signIns }: SignInRoutesDeps) {
  return {
    count: (outcome: string) => signIns.inc({ outcome }),
    failure: (request: FastifyRequest, error: unknown) => {
      const reason = reasonOf(error);
      signIns.inc({ outcome: reason });
      const logged = { cause: error instanceof Problem ? error.cause : undefined };
      const fact = { id: null, details: { method: 'oidc', reason }, logged };
      request.server.audit.recordRefusal(sourceOf(request), { action: 'sign_in_refused', ...fact });
    },
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Problem)) return 'error';
  if (error.code === 'TOO_MANY_REQUESTS') return 'throttled';
  const reason = error.details?.[0]?.reason;
  if (typeof reason === 'string') return reason;
  return error.code === 'PERMISSION_DENIED' ? 'no_access' : 'error';
}
