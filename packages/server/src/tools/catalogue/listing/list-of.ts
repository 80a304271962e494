import { listEnvelope } from '../../../platform/envelope.ts';

/** Yields the list envelope item by item, because it may contain the whole catalogue. */
export function* listOf<Item>(
  items: readonly Item[],
  describe: (item: Item) => unknown,
  more: Readonly<Record<string, unknown>> = {},
): Generator<string> {
  const { status, data, ...counts } = listEnvelope({ items, hasMore: false });
  yield `{"status":"${status}","data":[`;
  for (const [index, item] of data.entries()) yield `${index === 0 ? '' : ','}${JSON.stringify(describe(item))}`;
  yield `],${JSON.stringify({ ...counts, ...more }).slice(1)}`;
}
