import { maxRateLimits, type OwnKey, type RateLimit } from '@quartermaster/contract';
import { rateLimitOperations } from '@quartermaster/contract/operations';
import type { RateState } from '../../platform/admission/rate-answers.ts';
import type { RateLimitRepository, RateRule } from '../../platform/admission/rate-rules.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { acknowledgement, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { Manager, ManagerGuard } from '../../platform/http/guard.ts';
import { pageOf } from '../../platform/list-cursors.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { objectNotFound, Problem } from '../../platform/problem.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import type { KeyRing } from './key-ring.ts';
import { limitNotOwned } from './problems.ts';

export interface RateLimitRoutesDeps extends Pick<CommonDeps, 'clock' | 'newId'> {
  readonly rateLimits: RateLimitRepository;
  readonly keyRing: Pick<KeyRing, 'refresh'>;
  readonly guard: ManagerGuard;
}

const url = '/v1/projects/:project_id/rate_limits';

/** Registers the management of rate limits, for administrators and for keys of scope `admin`. */
export function rateLimitRoutes(app: App, deps: RateLimitRoutesDeps): void {
  listRoutes(app, deps);
  deleteRoute(app, deps);
}

function listRoutes(app: App, { rateLimits, keyRing, guard, newId, clock }: RateLimitRoutesDeps): void {
  const onRequest = guard.manages;
  app.get(url, { onRequest, schema: rateLimitOperations.listRateLimits }, async (request) => {
    const manager = guard.managerOf(request);
    const rules = await rateLimits.listRules(managed(manager, request.params.project_id));
    const seen = rules.filter(({ tool }) => seesTool(manager.permissions, tool));
    return pageOf(seen, request.query, { kind: 'rateLimit', toWire });
  });
  app.post(url, { onRequest, schema: rateLimitOperations.createRateLimit }, async (request) => {
    const manager = guard.managerOf(request);
    const { subject_id: subjectId = null, tool = null, per_minute = null, per_day = null } = request.body;
    if (!seesTool(manager.permissions, tool)) throw limitNotOwned('tool', tool);
    if (per_minute === null && per_day === null)
      throw fieldInvalid('body/per_minute', 'nothing', 'a number, if per_day is absent');
    const projectId = managed(manager, request.params.project_id);
    const place = { id: newId('rateLimit'), projectId, subjectId, tool };
    const rule: RateRule = { ...place, perMinute: per_minute, perDay: per_day, createdAt: clock.now() };
    const outcome = await rateLimits.addRule(rule, maxRateLimits);
    if (outcome === 'full') throw tooManyRateLimits();
    if (outcome === 'unknown_subject') throw objectNotFound('key or application', String(subjectId));
    await request.server.audit.record(request, { action: 'rate_limit.created', ...factOf(rule) });
    await keyRing.refresh();
    return successEnvelope(toWire(rule));
  });
}

function deleteRoute(app: App, { rateLimits, keyRing, guard }: RateLimitRoutesDeps): void {
  app.delete(
    `${url}/:rate_limit_id`,
    { onRequest: guard.manages, schema: rateLimitOperations.deleteRateLimit },
    async (request) => {
      const manager = guard.managerOf(request);
      const { project_id, rate_limit_id: id } = request.params;
      const projectId = managed(manager, project_id);
      const rule = (await rateLimits.listRules(projectId)).find((one) => one.id === id);
      const isSeen = rule !== undefined && seesTool(manager.permissions, rule.tool);
      if (!isSeen || !(await rateLimits.removeRule(projectId, id))) throw objectNotFound('rate limit', id);
      await request.server.audit.record(request, { action: 'rate_limit.deleted', ...factOf(rule) });
      await keyRing.refresh();
      return acknowledgement;
    },
  );
}

function factOf({ id, projectId, subjectId: subject, tool, perMinute: per_minute, perDay: per_day }: RateRule) {
  return { id, projectId, details: { subject, tool, per_minute, per_day } };
}

/** Returns the same error for another project as for a missing one. */
function managed({ projectId }: Manager, wanted: string): string {
  if (projectId !== null && projectId !== wanted) throw objectNotFound('project', wanted);
  return wanted;
}

function seesTool(permissions: Permissions, tool: string | null): boolean {
  const [bundle = '', plugin] = tool?.split('/', 2) ?? [];
  if (tool === null) return true;
  return plugin === undefined ? permissions.seesBundle(bundle) : permissions.seesPlugin(bundle, plugin);
}

function tooManyRateLimits(): Problem {
  const message = `The project has ${maxRateLimits} rate limits, which is the maximum. Delete some and retry.`;
  return new Problem('RESOURCE_LIMIT_REACHED', message, { retryAfter: 60 });
}

function toWire(rule: RateRule): RateLimit {
  return {
    object: 'RateLimit',
    rate_limit_id: rule.id,
    project_id: rule.projectId,
    subject_id: rule.subjectId,
    tool: rule.tool,
    per_minute: rule.perMinute,
    per_day: rule.perDay,
    created_timestamp: rule.createdAt,
  };
}

/** What is left of the limits of a key. A limit of a plugin that the key does not see is left out. */
export function rateStatesToWire(states: readonly RateState[], permissions: Permissions): OwnKey['rate_limits'] {
  return states
    .filter(({ rule }) => seesTool(permissions, rule.tool))
    .map(({ rule, window, limit, remaining, reset }) => ({
      rate_limit_id: rule.id,
      tool: rule.tool,
      window,
      limit,
      remaining,
      reset_seconds: reset,
    }));
}
