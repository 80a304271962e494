import type { ResponseMapping } from '@quartermaster/plugin-kit';
import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { type PreparedCall, prepareCall } from './declarative/declarative.ts';
import { compileErrorRules, type ErrorRules, mergeErrorMappings } from './upstream-answers/error-rules.ts';

/** Compiles declarative calls at first use. A compiled call lives as long as its plugin or bundle in the catalogue. */
export interface PreparedCalls {
  ofPlugin(plugin: CompiledPlugin): PreparedCall;
  /** null when the bundle declares no call that verifies credentials. */
  ofVerification(bundle: CompiledBundle): PreparedCall | null;
  /** The `errors` of the bundle, for handlers and remote tools. */
  errorsOf(bundle: CompiledBundle): ErrorRules;
}

export function createPreparedCalls(): PreparedCalls {
  const plugins = new WeakMap<CompiledPlugin, PreparedCall>();
  const errors = new WeakMap<CompiledBundle, ErrorRules>();
  const verifications = new WeakMap<CompiledBundle, PreparedCall>();

  return {
    ofPlugin(plugin) {
      const known = plugins.get(plugin);
      if (known !== undefined) return known;
      const { request, response } = plugin.manifest;
      if (request === undefined) throw new Error(`the plugin ${plugin.id} has neither request nor handler`);
      const call = prepareCall(request, withErrors(response, plugin.bundle));
      plugins.set(plugin, call);
      return call;
    },
    ofVerification(bundle) {
      const known = verifications.get(bundle);
      if (known !== undefined) return known;
      const { verify } = bundle.manifest;
      if (verify === undefined) return null;
      const call = prepareCall(verify.request, withErrors(verify.response, bundle));
      verifications.set(bundle, call);
      return call;
    },
    errorsOf(bundle) {
      const known = errors.get(bundle);
      if (known !== undefined) return known;
      const rules = compileErrorRules(bundle.manifest.errors);
      errors.set(bundle, rules);
      return rules;
    },
  };
}

function withErrors(response: ResponseMapping | undefined, { manifest }: CompiledBundle): ResponseMapping {
  return { ...response, errors: mergeErrorMappings(manifest.errors, response?.errors) };
}
