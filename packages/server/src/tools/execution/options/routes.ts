import { OptionsRequest } from '@quartermaster/contract';
import { executionOperations } from '@quartermaster/contract/operations';
import { resolveRequest } from '../../../access/credential-profiles/resolve-credentials.ts';
import { abortedWhenGone } from '../../../platform/client-gone.ts';
import { successEnvelope } from '../../../platform/envelope.ts';
import type { App } from '../../../platform/http/app.ts';
import { warningsOf } from '../../../platform/validation/ignored-members.ts';
import { choicesOf } from '../../catalogue/choices.ts';
import { checkCredentialBounds } from '../../catalogue/credential-bounds.ts';
import { hasAnswer } from '../answer-call.ts';
import type { FoundOptions } from '../executor.ts';
import { addTo, callerOf, checkPlugin, type ExecutionRoutesDeps } from '../routes.ts';
import { presentOptions, readListedOptions } from './present-options.ts';

/** The values of an input that the third party knows. */
export function optionsRoutes(app: App, deps: Omit<ExecutionRoutesDeps, 'background' | 'basePathOf'>): void {
  const { catalogue, executor, onRequest, permissionsOf, resolveCredentials } = deps;
  app.post(
    '/v1/plugins/:bundle_id/:plugin_id/options',
    { onRequest, schema: executionOperations.listOptions },
    async (request, reply) => {
      const { body } = request;
      const { bundle_id, plugin_id } = request.params;
      checkCredentialBounds(body.credentials);
      const permissions = permissionsOf(request);
      // The code of the plugin runs with the credentials, so the caller must be allowed to run it.
      const plugin = checkPlugin(catalogue().visibleTo(permissions), permissions, request.params);
      const warnings = warningsOf(OptionsRequest, body);
      const choices = choicesOf(plugin.manifest);
      const { kind } = choices[body.property] ?? { kind: 'one' };
      const listed = kind === 'one' ? readListedOptions(plugin.manifest.input_schema, body.property) : undefined;
      if (listed !== undefined) return { ...successEnvelope(listed), ...warnings };
      const running = abortedWhenGone(reply);
      const cancel = () => running.abort();
      const caller = { ...callerOf(deps, request), origin: 'options', onCounted: addTo(reply), cancel } as const;
      const call = await resolveRequest(resolveCredentials, caller, { ...body, bundle_id, plugin_id });
      const execution = await executor.listOptions(call, running.signal, caller);
      if (!hasAnswer(execution, running.signal)) return reply.hijack();
      const { output } = execution.outcome as { output: FoundOptions }; // a success, and checked by the executor
      return { ...successEnvelope(presentOptions(kind, output, body.search)), ...warnings };
    },
  );
}
