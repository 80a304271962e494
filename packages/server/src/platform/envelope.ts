import type { Page } from './page.ts';

/** The answer to a request that has nothing to return, such as a deletion. Schema: `Acknowledgement` of the contract. */
export const acknowledgement = Object.freeze({ status: 'success' as const });

/** The success envelope: one object under `data`. Schema: `Success` of the contract. */
export function successEnvelope<Data>(data: Data) {
  return { ...acknowledgement, data };
}

/** The list envelope: the items of one page under `data`. Schemas: `List` and `CountedList` of the contract. */
export function listEnvelope<Item>({ items, hasMore, total }: Page<Item>) {
  const list = { ...successEnvelope([...items]), fetched_count: items.length, has_more: hasMore };
  if (total === undefined) return list;
  return { ...list, total_count: total.count, total_count_is_exact: total.isExact };
}
