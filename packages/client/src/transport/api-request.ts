/** The data of a response, and the response itself, whose body has been read. */
export interface Answer<T> {
  readonly data: T;
  readonly response: Response;
  /** The id under which the service logged the request; null when the response has none. */
  readonly requestId: string | null;
}

/** A sent request: a promise of its data. */
export type ApiRequest<T> = Promise<T> & {
  /** Returns the data together with the response and the request id. */
  withResponse(): Promise<Answer<T>>;
};

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}

/** A list: a promise of its first page. `for await` yields the items of this page and of all that follow. */
export type ApiList<Item, P extends Page<Item> = Page<Item>> = ApiRequest<P> & AsyncIterable<Item>;

export function toApiRequest<T>(answer: Promise<Answer<T>>): ApiRequest<T> {
  const data = answer.then((one) => one.data);
  const withResponse = () => {
    markHandled(data);
    return answer;
  };
  return Object.assign(data, { withResponse });
}

/** The caller awaits another promise of the same request, which reports the failure. */
export function markHandled(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}

/** @param nextPage reads the page after the item with this id */
export function toApiList<Item, P extends Page<Item>>(
  first: ApiRequest<P>,
  idOf: (item: Item) => string,
  nextPage: (after: string) => Promise<P>,
): ApiList<Item, P> {
  async function* items(): AsyncGenerator<Item> {
    let page = await first;
    let last = '';
    for (;;) {
      yield* page.data;
      const end = page.data.at(-1);
      if (!page.has_more || end === undefined) return;
      const id = idOf(end);
      // A server that repeats its page would be read without end.
      if (id === last) throw new Error(`The list does not continue after ${id}.`);
      last = id;
      page = await nextPage(id);
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items });
}
