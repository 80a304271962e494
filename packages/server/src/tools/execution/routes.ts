import {
  ExecuteRequest,
  type ExecuteResult,
  type PluginCall,
  type Run,
  type RunOrigin,
  VerifyCredentialsRequest,
} from '@quartermaster/contract';
import { executionOperations } from '@quartermaster/contract/operations';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { type ResolveCredentials, resolveRequest } from '../../access/credential-profiles/resolve-credentials.ts';
import { addRateFields } from '../../platform/admission/rate-answers.ts';
import { senderOf } from '../../platform/audit/audit.ts';
import { abortedWhenGone } from '../../platform/client-gone.ts';
import { acknowledgement, successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import { readIdempotencyKey } from '../../platform/idempotency/idempotency.ts';
import { isJsonObject } from '../../platform/json/json-object.ts';
import type { Permissions } from '../../platform/permissions.ts';
import { warningsOf } from '../../platform/validation/ignored-members.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import type { Catalogue, CompiledPlugin } from '../catalogue/catalogue.ts';
import { checkCredentialBounds } from '../catalogue/credential-bounds.ts';
import { getBundle, getPlugin } from '../catalogue/problems.ts';
import { getPluginOfTool } from '../catalogue/tool-names.ts';
import { answerCall, hasAnswer } from './answer-call.ts';
import { type BackgroundRuns, wantsBackground } from './background.ts';
import { asDirectCall, readCredentialsHeaders } from './credentials-header.ts';
import type { Executor } from './executor.ts';
import { effectsNotPermitted, idsMissing } from './problems.ts';
import type { RunCaller } from './run.ts';
import type { RunOnce } from './run-once.ts';

export interface ExecutionRoutesDeps {
  /** Returns the active catalogue, which resolves the names of tools. */
  readonly catalogue: () => Catalogue;
  readonly executor: Executor;
  /** Authentication of the plugins address. */
  readonly onRequest: onRequestHookHandler;
  /** The project of the key that was sent, null without one. */
  readonly projectOf: (request: FastifyRequest) => string | null;
  readonly once: RunOnce;
  readonly resolveCredentials: ResolveCredentials;
  /** The id of the key that was sent, null without one. */
  readonly keyOf: (request: FastifyRequest) => string | null;
  /** Authentication for a caller that runs plugins of any effects. */
  readonly onAnyRun: onRequestHookHandler;
  readonly permissionsOf: (request: FastifyRequest) => Permissions;
  readonly background: BackgroundRuns;
  /** The path below which the client of a request reaches `/v1`; empty when there is none. */
  readonly basePathOf: (request: FastifyRequest) => string;
}

/** Running plugins over HTTP. Source: docs/contract.md "Execution"; docs/contract.md "Bundles and plugins". */
export function executionRoutes(app: App, deps: ExecutionRoutesDeps): void {
  executeRoute(app, deps);
  executeDirectlyRoute(app, deps);
  verifyRoute(app, deps);
}

function executeRoute(app: App, deps: ExecutionRoutesDeps): void {
  app.post(
    '/v1/execute',
    { onRequest: deps.onRequest, schema: executionOperations.execute, attachValidation: true },
    async (request, reply) => {
      if (request.validationError !== undefined) throw withMissingIds(request.validationError, request.body);
      checkCredentialBounds(request.body.credentials);
      const permissions = deps.permissionsOf(request);
      const catalogue = deps.catalogue().visibleTo(permissions);
      const wanted = toPluginCall(catalogue, request.body);
      checkPlugin(catalogue, permissions, wanted);
      if (wantsBackground(request.headers.prefer)) {
        const run = await acceptFor({ request, reply, deps }, wanted);
        const location = `${deps.basePathOf(request)}/v1/runs/${run.run_id}`;
        reply.code(202).header('Location', location).header('Preference-Applied', 'respond-async');
        return { ...successEnvelope(run), ...ignoredOf(ExecuteRequest, request.body) };
      }
      const data = await runFor({ request, reply, deps, origin: 'execute' }, wanted);
      if (data === null) return reply.hijack();
      return { ...successEnvelope(data), ...ignoredOf(ExecuteRequest, request.body) };
    },
  );
}

/** Returns `warnings` of an answer. `project_id` is not named, because clients of the ancestor always send it. */
function ignoredOf(schema: Parameters<typeof warningsOf>[0], body: object) {
  const { project_id: _unused, ...members } = body as Readonly<Record<string, unknown>>; // a JSON object
  return warningsOf(schema, members);
}

/** Adds the missing ids to the errors of a body. Its schema cannot require them, because a tool name can replace them. */
function withMissingIds(error: NonNullable<FastifyRequest['validationError']>, body: unknown): Error {
  if (error.validationContext !== 'body' || !isJsonObject(body) || body.tool_name !== undefined) return error;
  const names = ['bundle_id', 'plugin_id'].filter((name) => body[name] === undefined);
  error.validation.unshift(
    ...names.map((name) => ({
      keyword: 'required',
      instancePath: '',
      schemaPath: '',
      params: { missingProperty: name },
    })),
  );
  return error;
}

/**
 * Finds the plugin that a body names: by its ids, or as the tool that a model called.
 * @throws Problem when ids are missing, and when the name is unknown or ambiguous
 */
function toPluginCall(catalogue: ReturnType<ExecutionRoutesDeps['catalogue']>, body: ExecuteRequest): PluginCall {
  const { bundle_id, plugin_id, tool_name, input_params, credentials } = body;
  if (tool_name !== undefined) {
    if (plugin_id !== undefined) throw fieldInvalid('body/plugin_id', 'a name', 'absent beside tool_name');
    const { bundle, id } = getPluginOfTool(catalogue, tool_name, bundle_id);
    return { bundle_id: bundle.id, plugin_id: id, input_params, credentials };
  }
  if (bundle_id === undefined) throw idsMissing(plugin_id === undefined ? ['bundle_id', 'plugin_id'] : ['bundle_id']);
  if (plugin_id === undefined) throw idsMissing(['plugin_id']);
  return { bundle_id, plugin_id, input_params, credentials };
}

/** The form of a bundle's OpenAPI document: the body is the input, the answer the output. */
function executeDirectlyRoute(app: App, deps: ExecutionRoutesDeps): void {
  app.post(
    '/v1/bundles/:bundle_id/plugins/:plugin_id/execute',
    { onRequest: deps.onRequest, schema: executionOperations.executeDirectly },
    async (request, reply) => {
      const credentials = readCredentialsHeaders((name) => request.headers[name]);
      const wanted = { ...request.params, input_params: request.body, credentials };
      const permissions = deps.permissionsOf(request);
      checkPlugin(deps.catalogue().visibleTo(permissions), permissions, wanted);
      try {
        checkCredentialBounds(credentials);
        const result = await runFor({ request, reply, deps, origin: 'direct' }, wanted);
        if (result === null) return reply.hijack();
        reply.header('X-Run-Id', result.run_id).type('application/json; charset=utf-8');
        if (result.output_violations !== undefined)
          reply.header('X-Output-Violations', result.output_violations.length);
        return reply.send(JSON.stringify(result.data));
      } catch (error) {
        throw asDirectCall(error);
      }
    },
  );
}

interface RunContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: ExecutionRoutesDeps;
  readonly origin: RunOrigin;
}

/** The result of a run; null when the client has gone. Throws its Problem otherwise. */
async function runFor({ request, reply, deps, origin }: RunContext, wanted: PluginCall): Promise<ExecuteResult | null> {
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const caller = { ...callerOf(deps, request), origin, onCounted: addTo(reply) };
  return await answerCall(deps, { request: wanted, key, caller, gone: abortedWhenGone(reply).signal });
}

export function addTo(reply: FastifyReply): RunCaller['onCounted'] {
  return (fields) => addRateFields(reply, fields);
}

export function callerOf(
  { projectOf, keyOf, permissionsOf }: Pick<ExecutionRoutesDeps, 'projectOf' | 'keyOf' | 'permissionsOf'>,
  request: FastifyRequest,
) {
  const sender = senderOf(request);
  return { projectId: projectOf(request), keyId: keyOf(request), permissions: permissionsOf(request), sender };
}

/**
 * Checks that the caller may run a plugin.
 * @param catalogue what the caller sees
 * @throws Problem OBJECT_NOT_FOUND, and PERMISSION_DENIED for effects that the caller may not cause
 */
export function checkPlugin(
  catalogue: Catalogue,
  permissions: Permissions,
  { bundle_id, plugin_id }: Pick<PluginCall, 'bundle_id' | 'plugin_id'>,
): CompiledPlugin {
  const plugin = getPlugin(catalogue, bundle_id, plugin_id);
  if (permissions.has('plugins')) return plugin;
  const { effects } = plugin.manifest;
  if (!permissions.mayCause(effects)) throw effectsNotPermitted(`${bundle_id}/${plugin_id}`, effects);
  return plugin;
}

/** Accepts an asynchronous run, once for an `Idempotency-Key`. */
async function acceptFor({ request, reply, deps }: Omit<RunContext, 'origin'>, wanted: PluginCall): Promise<Run> {
  const { background, once } = deps;
  const key = readIdempotencyKey(request.headers['idempotency-key']);
  const caller = { ...callerOf(deps, request), onCounted: addTo(reply) };
  const runId =
    key === undefined
      ? await background.accept(wanted, caller)
      : await once.acceptOnce({ ...caller, key }, wanted, (claim) => background.accept(wanted, { ...caller, claim }));
  return await background.get(caller, runId);
}

function verifyRoute(app: App, deps: ExecutionRoutesDeps): void {
  const { catalogue, executor, onAnyRun: onRequest, permissionsOf, resolveCredentials } = deps;
  app.post(
    '/v1/verify_credentials',
    { onRequest, schema: executionOperations.verifyCredentials },
    async (request, reply) => {
      checkCredentialBounds(request.body.credentials);
      getBundle(catalogue().visibleTo(permissionsOf(request)), request.body.bundle_id);
      const running = abortedWhenGone(reply);
      const caller = { ...callerOf(deps, request), origin: 'verify', cancel: () => running.abort() } as const;
      const wanted = await resolveRequest(resolveCredentials, caller, request.body);
      const execution = await executor.verifyCredentials(wanted, running.signal, caller);
      if (!hasAnswer(execution, running.signal)) return reply.hijack();
      return { ...acknowledgement, ...ignoredOf(VerifyCredentialsRequest, request.body) };
    },
  );
}
