import { attempts, harm } from './corpus.suite.ts';
import { measure } from './measure.suite.ts';
import type { Measured } from './render-page.suite.ts';

/** Measures every handler in every way. It takes about a minute on two cores. */
export async function measureAll(): Promise<Measured> {
  const [attempting, harming] = [Object.values(attempts).flat(), Object.values(harm).flat()];
  const inTier = async (isolation: 'process' | 'sandbox') => {
    const kernel = await measure(attempting, { isolation, barriers: 'kernel' });
    const whole = await measure([...attempting, ...harming], { isolation, barriers: 'whole' });
    return { kernel, whole };
  };
  const [inProcess, inSandbox] = await Promise.all([inTier('process'), inTier('sandbox')]);
  return {
    attempts,
    harm,
    whole: { process: inProcess.whole, sandbox: inSandbox.whole },
    kernel: { process: inProcess.kernel, sandbox: inSandbox.kernel },
  };
}
