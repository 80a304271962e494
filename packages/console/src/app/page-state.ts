import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/** What the URL says about a page: a reload, the back button and shared links show the same. Pages ignore other members. */
export interface PageState {
  readonly project?: string | undefined;
  readonly tab?: string | undefined;
  readonly rows?: string | undefined;
  /** The question of a search. */
  readonly q?: string | undefined;
  readonly count?: string | undefined;
  /** Ids of other collections that the question asks, separated by commas. */
  readonly in?: string | undefined;
  readonly mode?: string | undefined;
  readonly expand?: string | undefined;
  readonly score?: string | undefined;
  readonly similarity?: string | undefined;
  readonly rerank?: string | undefined;
  /** A part of a name. */
  readonly name?: string | undefined;
  readonly purpose?: string | undefined;
  /** A type of documents, or the extension of their files. */
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  /** The column that sorts a table, with `-` before it for the descending order. */
  readonly sort?: string | undefined;
  readonly bundle?: string | undefined;
  readonly outcome?: string | undefined;
  readonly action?: string | undefined;
  /** Ids of an actor and an object. */
  readonly actor?: string | undefined;
  readonly object?: string | undefined;
  /** Dates, such as 2026-11-21. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The result whose document is open: `<collection>/<chunk>`. */
  readonly chunk?: string | undefined;
  /** The number of a page of a document. */
  readonly page?: string | undefined;
  /** How a document is shown. */
  readonly view?: string | undefined;
}
type Member = Exclude<keyof PageState, 'project'>;

/** All values are texts, so that a question such as `10` or `true` stays one. */
export function parseSearch(text: string): PageState {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: object): string {
  const entries = Object.entries(search).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

export function usePageState(): PageState {
  return useSearch({ strict: false });
}

/** Changes what the URL says. `push`: the back button returns to what it said before. */
export function useChangePage() {
  const navigate = useNavigate();
  const router = useRouter();
  return (change: PageState, how: 'push' | 'replace') =>
    void navigate({
      // Not `.`: on a page that does not exist, that is the page whose path it begins with.
      to: router.latestLocation.pathname as '.',
      search: (state: PageState) => ({ ...state, ...change }),
      hash: true,
      replace: how === 'replace',
      resetScroll: false,
    });
}

/** One of several values in the URL. Without one of them, it is the first, which is left out of the URL. */
export function usePageChoice<T extends string>(
  member: Member,
  choices: readonly [T, ...T[]],
  how: 'push' | 'replace',
) {
  const stored = usePageState()[member];
  const change = useChangePage();
  const value = choices.find((choice) => choice === stored) ?? choices[0];
  const choose = (next: string | null) =>
    change({ [member]: next === null || next === choices[0] ? undefined : next }, how);
  return [value, choose] as const;
}

/** The text of an input in the URL. The URL follows a moment later, so the input has its own copy. */
export function usePageText(member: Member) {
  const stored = usePageState()[member] ?? '';
  const change = useChangePage();
  const [text, setText] = useState(stored);
  const written = useRef<string | null>(null);
  useEffect(() => {
    if (written.current === null) setText(stored);
    else if (written.current === stored) written.current = null;
  }, [stored]);
  const type = (next: string) => {
    setText(next);
    if (next === stored) return;
    written.current = next;
    change({ [member]: next === '' ? undefined : next }, 'replace');
  };
  return [text, type] as const;
}
