import { openPageThread, type PageThread } from './open-page-thread.ts';
import type { PageBytes } from './page-format.ts';
import type { EncodeRequest } from './page-protocol.ts';

/** Encodes vectors outside of the event loop. */
export type Encode = (request: EncodeRequest) => Promise<PageBytes>;

/** Encodes in a thread of its own, so that no question waits for it. The thread starts with the first request. */
export function openEncoder(): AsyncDisposable & { readonly encode: Encode } {
  let thread: PageThread | undefined;
  return {
    async encode(request) {
      thread ??= openPageThread(0, () => {
        thread = undefined;
      });
      const answer = await thread.ask({ kind: 'encode', ...request });
      if (answer.kind !== 'encoded') throw new Error(`the thread answered an encoding with ${answer.kind}`);
      return answer.page;
    },
    async [Symbol.asyncDispose]() {
      await thread?.close();
    },
  };
}
