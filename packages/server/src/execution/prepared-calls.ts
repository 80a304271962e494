import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import { type PreparedCall, prepareCall } from './declarative/declarative.ts';

/** Declarative calls, compiled at first use and kept as long as the catalogue keeps what they belong to. */
export interface PreparedCalls {
  ofPlugin(plugin: CompiledPlugin): PreparedCall;
  /** Null when the bundle declares no call to verify credentials with. */
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
