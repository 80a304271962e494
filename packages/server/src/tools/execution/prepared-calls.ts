import type { ResponseMapping } from '@quartermaster/plugin-kit';
import { memoize } from '../../platform/memoize.ts';
import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { type PreparedCall, prepareCall } from './declarative/declarative.ts';
import { compileErrorRules, mergeErrorMappings } from './upstream-answers/error-rules.ts';

/** Compiles declarative calls at first use. A compiled call lives as long as its plugin or bundle in the catalogue. */
export function createPreparedCalls() {
  return {
    ofPlugin: memoize((plugin: CompiledPlugin): PreparedCall => {
      const { request, response } = plugin.manifest;
      if (request === undefined) throw new Error(`the plugin ${plugin.id} has neither request nor handler`);
      return prepareCall(request, withErrors(response, plugin.bundle));
    }),
    /** null when the bundle declares no call that verifies credentials. */
    ofVerification: memoize((bundle: CompiledBundle): PreparedCall | null => {
      const { verify } = bundle.manifest;
      return verify === undefined ? null : prepareCall(verify.request, withErrors(verify.response, bundle));
    }),
    /** The `errors` of the bundle, for handlers and remote tools. */
    errorsOf: memoize((bundle: CompiledBundle) => compileErrorRules(bundle.manifest.errors)),
  };
}

export type PreparedCalls = ReturnType<typeof createPreparedCalls>;

function withErrors(response: ResponseMapping | undefined, { manifest }: CompiledBundle): ResponseMapping {
  return { ...response, errors: mergeErrorMappings(manifest.errors, response?.errors) };
}
