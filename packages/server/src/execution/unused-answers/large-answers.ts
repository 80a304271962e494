import type { ArtifactStore, ReceivedBytes } from '../../artifacts/artifact-store.ts';
import type { LargeAnswer, ReceiveLarge } from '../../egress/broker.ts';

/** The bytes of a large answer that are stored. More are not read. */
export const maxLargeAnswerBytes = 64 * 1024 * 1024;
/** The large answers that all runs of a process receive at the same time, to bound the disk space before a quota counts them. */
export const maxLargeAnswersAtOnce = 8;

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

/** Creates the receivers of the runs of a process. */
export function createLargeAnswerReceivers(store: Pick<ArtifactStore, 'receive'> | undefined): () => LargeAnswers {
  let underWay = 0;

  async function receiveBytes(body: LargeAnswer['body']): Promise<ReceivedBytes | null> {
    if (store === undefined || underWay >= maxLargeAnswersAtOnce) return null;
    underWay += 1;
    const received = await store.receive(body, maxLargeAnswerBytes);
    if (received === null) underWay -= 1;
    return received;
  }

  return () => {
    let last: ReceivedAnswer | undefined;
    const held: ReceivedBytes[] = [];
    return {
      async receive({ contentType, body }) {
        const bytes = await receiveBytes(body);
        if (bytes !== null) held.push(bytes);
        last = { contentType, bytes };
      },
      take: () => last,
      async end() {
        underWay -= held.length;
        await Promise.all(held.map((bytes) => bytes.discard()));
      },
    };
  };
}
