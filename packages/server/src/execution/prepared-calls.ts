import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { type PreparedCall, prepareCall } from './declarative/declarative.ts';

/** Compiles declarative calls at first use. A compiled call lives as long as its plugin or bundle in the catalogue. */
export interface PreparedCalls {
  ofPlugin(plugin: CompiledPlugin): PreparedCall;
  /** null when the bundle declares no call that verifies credentials. */
  ofVerification(bundle: CompiledBundle): PreparedCall | null;
}

export function createPreparedCalls(): PreparedCalls {
  const plugins = new WeakMap<CompiledPlugin, PreparedCall>();
  const verifications = new WeakMap<CompiledBundle, PreparedCall>();

  return {
    ofPlugin(plugin) {
      const known = plugins.get(plugin);
      if (known !== undefined) return known;
      const { request, response } = plugin.manifest;
      if (request === undefined) throw new Error(`the plugin ${plugin.id} has neither request nor handler`);
      const call = prepareCall(request, response);
      plugins.set(plugin, call);
      return call;
    },
    ofVerification(bundle) {
      const known = verifications.get(bundle);
      if (known !== undefined) return known;
      const { verify } = bundle.manifest;
      if (verify === undefined) return null;
      const call = prepareCall(verify.request, verify.response);
      verifications.set(bundle, call);
      return call;
    },
  };
}
