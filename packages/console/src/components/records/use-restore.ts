import { useQueryClient } from '@tanstack/react-query';
import { filesApi } from '../../api/addresses.ts';
import { fill, useLanguage } from '../../language/language.tsx';
import { focusHeadingIfLost } from '../forms/use-focus-return.ts';
import { useForEach } from '../lists/selection.tsx';
import { useToasts } from '../toasts.tsx';

const words = {
  en: { restored: 'Restored: {count}', undo: 'Undo' },
  zh: { restored: '已恢复：{count}', undo: '撤销' },
} as const;

const endpoint = 'POST /v1/collections/{collection_id}/records/{record_id}/restore';

/** Restores deleted documents of a collection. */
export function useRestore(collectionId: string) {
  const { code } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const forEach = useForEach();
  /** @returns the ids that failed */
  const restore = async (ids: Iterable<string>): Promise<readonly string[]> => {
    const all = [...ids];
    const failed = await forEach(all, (id) =>
      filesApi.json(endpoint, { path: { collection_id: collectionId, record_id: id } }),
    );
    for (const queryKey of [['records', collectionId], ['record']]) await queries.invalidateQueries({ queryKey });
    if (all.length > failed.length) say(fill(words[code].restored, { count: all.length - failed.length }));
    focusHeadingIfLost();
    return failed;
  };
  /** Says that documents were deleted, beside a button that restores them. */
  const sayDeleted = (text: string, ids: readonly string[]) =>
    say(text, { label: words[code].undo, run: () => void restore(ids) });
  return { restore, sayDeleted };
}
