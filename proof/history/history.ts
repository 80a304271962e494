/** A request of a client. Contents are given by a seed, so that a history stays small. */
export type Request =
  | { readonly what: 'upload'; readonly name: string; readonly content: Content; readonly key?: string }
  | { readonly what: 'delete file'; readonly fileId: string }
  | { readonly what: 'read file'; readonly fileId: string; readonly sha256: string }
  | { readonly what: 'create collection' }
  | { readonly what: 'create record'; readonly collectionId: string; readonly word: string; readonly fileId?: string }
  | { readonly what: 'delete record'; readonly collectionId: string; readonly recordId: string }
  | { readonly what: 'run'; readonly plugin: 'read' | 'write'; readonly text: string; readonly key?: string }
  | { readonly what: 'start run'; readonly plugin: 'read' | 'write'; readonly text: string; readonly key?: string };

export interface Content {
  readonly seed: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Answer {
  readonly status: number;
  /** The id of the created object, or of the run. */
  readonly id?: string;
  /** The `error.code` of a refusal. */
  readonly code?: string;
  /** For a file that was read: the hash of the received bytes. */
  readonly sha256?: string;
}

/** One request and its outcome, as far as it is known. */
export interface Operation {
  readonly id: number;
  readonly request: Request;
  /** Milliseconds of a monotonic clock. */
  readonly askedAt: number;
  answeredAt?: number;
  /** `undefined`: the client received no response. */
  answer?: Answer;
}

/** `unknown`: no response or a 5xx, so the effect may have happened or not. */
export type Fate = 'done' | 'refused' | 'unknown';

export function fateOf({ answer }: Operation): Fate {
  if (answer === undefined || answer.status >= 500) return 'unknown';
  return answer.status < 400 ? 'done' : 'refused';
}

/** Collects operations and passes every event to `onEvent` when it happens. */
export interface History {
  readonly operations: readonly Operation[];
  ask(request: Request): Operation;
  answer(operation: Operation, answer: Answer | undefined): void;
}

export function createHistory(onEvent: (text: string) => void = () => {}): History {
  const operations: Operation[] = [];
  return {
    operations,
    ask(request) {
      const operation: Operation = { id: operations.length, request, askedAt: performance.now() };
      operations.push(operation);
      onEvent(JSON.stringify(operation));
      return operation;
    },
    answer(operation, answer) {
      operation.answeredAt = performance.now();
      if (answer === undefined) return;
      operation.answer = answer;
      onEvent(JSON.stringify({ id: operation.id, answeredAt: operation.answeredAt, answer }));
    },
  };
}

/** Returns what the clients knew after the given events. */
export function operationsOf(events: readonly string[]): Operation[] {
  const operations = new Map<number, Operation>();
  for (const text of events) {
    const event = JSON.parse(text) as Operation; // written by `createHistory`
    const known = operations.get(event.id);
    operations.set(event.id, known === undefined ? event : { ...known, ...event });
  }
  return [...operations.values()];
}
