import type { Admission } from '../../../platform/admission/admission.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import { queues } from '../../../platform/admission/queues.ts';
import type { LargeAnswer, ReceiveLarge } from '../../../platform/outbound.ts';
import type { ArtifactStore, ReceivedBytes } from '../../artifacts/artifact-store.ts';

/** The bytes of a large answer that are stored. More are not read. */
const maxLargeAnswerBytes = 64 * 1024 * 1024;
/** The large answers that all runs of a process receive at the same time, to bound the disk space before a quota counts them. */
export const maxLargeAnswersAtOnce = queues.large_answers.atOnce;

/** The last answer of a run that is larger than the bundle allows. */
export interface LargeAnswers {
  readonly receive: ReceiveLarge;
  /** Undefined when no answer was too large. */
  take(): ReceivedAnswer | undefined;
  /** Deletes the stored answers that the run does not name. Called once, when the run has ended. */
  end(): Promise<void>;
}

export interface ReceivedAnswer {
  readonly contentType: string | undefined;
  /** Null when the bytes could not be written. */
  readonly bytes: ReceivedBytes | null;
}

interface HeldBytes {
  readonly received: ReceivedBytes;
  readonly leave: () => void;
}

/** Creates the receivers of the runs of a process. */
export function createLargeAnswerReceivers(
  store: Pick<ArtifactStore, 'receive'> | undefined,
  admission: Admission,
): (owner: Owner) => LargeAnswers {
  const places = admission.places('large_answers');

  async function receiveBytes(owner: Owner, body: LargeAnswer['body']): Promise<HeldBytes | null> {
    if (store === undefined) return null;
    const leave = places.tryEnter(owner);
    if (leave === null) return null;
    const received = await store.receive(body, maxLargeAnswerBytes);
    if (received === null) leave();
    return received && { received, leave };
  }

  return (owner) => {
    let last: ReceivedAnswer | undefined;
    const held: HeldBytes[] = [];
    return {
      async receive({ contentType, body }) {
        const bytes = await receiveBytes(owner, body);
        if (bytes !== null) held.push(bytes);
        last = { contentType, bytes: bytes?.received ?? null };
      },
      take: () => last,
      async end() {
        for (const { leave } of held) leave();
        await Promise.all(held.map(({ received }) => received.discard()));
      },
    };
  };
}
