import type { Rates } from '../../../platform/admission/rates.ts';
import type { Catalogue, CompiledPlugin } from '../../catalogue/catalogue.ts';
import { choicesOf } from '../../catalogue/choices.ts';
import { getPlugin } from '../../catalogue/problems.ts';
import type { Executor, OptionsCall } from '../executor.ts';
import { isShallow, maxOutputDepth } from '../json-bounds.ts';
import type { Execution } from '../outcome.ts';
import { choicesMissing, handlersRefused, valueTooDeep } from '../problems.ts';
import { type RawOutcome, type Run, type RunCaller, unknownCaller } from '../run.ts';

export interface WantedOptions extends Pick<OptionsCall, 'property' | 'search'> {
  readonly plugin: CompiledPlugin;
}

interface ListerDeps {
  readonly catalogue: () => Pick<Catalogue, 'findBundle' | 'loading' | 'bundles'>;
  readonly rates?: Pick<Rates, 'take'>;
  /** Checks the credentials of a call. */
  readonly begin: (subject: Pick<Run, 'bundle' | 'plugin' | 'signal' | 'caller'> & CallContext) => Omit<Run, 'input'>;
  readonly admit: (caller: RunCaller, work: () => Promise<Execution>) => Promise<Execution>;
  readonly conclude: (run: Run, start: () => Promise<RawOutcome>) => Promise<Execution>;
  /** Asks the plugin for the values. */
  readonly findOptions: (run: Run, wanted: WantedOptions) => Promise<RawOutcome>;
}

interface CallContext {
  readonly call: OptionsCall;
  readonly own: undefined;
}

/** Lists the values of an input. It is a run of the bundle's code, with the same limits, and counts against rate limits. */
export function createOptionsLister(deps: ListerDeps): Executor['listOptions'] {
  return async (call, signal, caller = unknownCaller) => {
    const { bundle_id: bundleId, plugin_id: pluginId, property, search, input_params: input } = call;
    const plugin = getPlugin(deps.catalogue(), bundleId, pluginId);
    const { bundle } = plugin;
    const choices = choicesOf(plugin.manifest);
    if (!Object.hasOwn(choices, property)) throw choicesMissing(property, Object.keys(choices));
    if (bundle.refusal !== undefined) throw handlersRefused(bundleId, bundle.refusal);
    if (!isShallow(input, maxOutputDepth)) throw valueTooDeep('input_params', maxOutputDepth);
    await deps.rates?.take(caller, `${bundleId}/${pluginId}`, caller.onCounted);
    const begun = deps.begin({ bundle, plugin: null, own: undefined, call, signal, caller });
    const run: Run = { ...begun, isolation: bundle.isolation, input };
    run.trace.validatedAt = performance.now();
    const wanted = { plugin, property, ...(search === undefined ? {} : { search }) };
    return await deps.admit(caller, () => deps.conclude(run, () => deps.findOptions(run, wanted)));
  };
}
