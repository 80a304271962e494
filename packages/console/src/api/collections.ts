import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useProjectChoice } from '../app/project.tsx';
import { filesApi } from './addresses.ts';

/** The newest collections whose name has these words, or the newest of all. */
export function useFoundCollections(words: string) {
  const { projectId } = useProjectChoice();
  return useQuery({
    queryKey: ['collections found', projectId, words],
    queryFn: () =>
      filesApi.data('GET /v1/collections', { query: { limit: 100, ...(words === '' ? {} : { name: words }) } }),
    placeholderData: keepPreviousData,
  });
}
