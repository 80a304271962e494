import type { Broker } from '../egress/broker.ts';
import type { Redactor } from '../egress/redact/redactor.ts';
import { type Cassette, type RecordedCall, recordRequest, recordResponse, writeCassette } from './cassette.ts';

/** Notes what plugins ask of a broker and what it answers them. */
export interface CallRecorder {
  wrap(broker: Broker): Broker;
  /** The calls since it was asked last, as the text of a cassette without a credential in any encoding. */
  take(recordedAt: string): { readonly text: string; readonly calls: number };
}

/**
 * A broker is asked before credentials are injected and answers with those that are marked as secrets scrubbed. The
 * others (an account, a region) are nobody's business either once the recording is shared, so all of them are taken out.
 * @param credentials finds every credential of the run, marked or not
 */
export function createCallRecorder(credentials: Redactor): CallRecorder {
  let calls: RecordedCall[] = [];
  let ofRuns: Redactor[] = [];

  return {
    wrap: (broker) => ({
      close: () => broker.close(),
      send: async (request, policy, signal) => {
        const result = await broker.send(request, policy, signal);
        // It has learned the access tokens that were got on the way.
        if (policy.redactor !== undefined) ofRuns.push(policy.redactor);
        if (result.kind !== 'response') return result;
        const response = recordResponse({ ...result, body: credentials.bytes(result.body) });
        calls.push({ request: recordRequest(request), response });
        return result;
      },
    }),
    take: (recordedAt) => {
      const scrubbers = [credentials, ...new Set(ofRuns)];
      const cassette: Cassette = { recordedAt, calls };
      const clean = scrubbers.reduce((value, redactor) => redactor.deep(value), cassette);
      const taken = { text: writeCassette(clean), calls: calls.length };
      [calls, ofRuns] = [[], []];
      // What is written is what is searched, whatever was done before.
      if (scrubbers.some((redactor) => redactor.text(taken.text) !== taken.text)) {
        throw new Error('the recording would hold a credential, so it is not kept');
      }
      return taken;
    },
  };
}
