import type { Broker } from '../../tools/egress/broker.ts';
import type { Redactor } from '../../tools/egress/redact/redactor.ts';
import { type Cassette, type RecordedCall, recordRequest, recordResponse, writeCassette } from './cassette.ts';

/** Records the requests of plugins to a broker and its answers. */
export interface CallRecorder {
  wrap(broker: Broker): Broker;
  /** Returns the calls since the last call as a cassette, with all credentials redacted in every encoding. */
  take(recordedAt: string): { readonly text: string; readonly calls: number };
}

/**
 * Creates a recorder. The broker receives requests before credentials are injected, and its answers are redacted only for marked
 * secrets. Recordings are shared, so the other credentials, such as an account, are redacted here too.
 * @param credentials redacts every credential of the run, marked or not
 */
export function createCallRecorder(credentials: Redactor): CallRecorder {
  let calls: RecordedCall[] = [];
  let ofRuns: Redactor[] = [];

  return {
    wrap: (broker) => ({
      close: () => broker.close(),
      send: async (request, policy, signal) => {
        const result = await broker.send(request, policy, signal);
        // This redactor also knows the access tokens that the run requested.
        if (policy.redactor !== undefined) ofRuns.push(policy.redactor);
        if (result.kind !== 'response') return result;
        const response = recordResponse({ ...result, body: credentials.bytes(result.body) });
        calls.push({ request: recordRequest(request), response });
        return result;
      },
    }),
    take: (recordedAt) => {
      const redactors = [credentials, ...new Set(ofRuns)];
      const cassette: Cassette = { recordedAt, calls };
      const clean = redactors.reduce((value, redactor) => redactor.deep(value), cassette);
      const recorded = { text: writeCassette(clean), calls: calls.length };
      [calls, ofRuns] = [[], []];
      // A final search of the exact text that will be written.
      if (redactors.some((redactor) => redactor.text(recorded.text) !== recorded.text)) {
        throw new Error('The recording was not stored because it contains a credential.');
      }
      return recorded;
    },
  };
}
