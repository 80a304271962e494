import type { Handler } from '@quartermaster/plugin-kit';

interface Input {
  readonly query: string;
  readonly max_results: number;
  readonly page_token?: string;
}

interface Header {
  readonly name?: string;
  readonly value?: string;
}

const messages = 'https://gmail.googleapis.com/gmail/v1/users/me/messages';

/** This plugin needs code, because a search returns ids only, and each message takes a call of its own. */
export const run: Handler<Input, Record<string, unknown>> = async (input, context) => {
  const read = async (url: string, query: Readonly<Record<string, string | readonly string[]>>) => {
    const { status, text } = await context.fetch({ method: 'GET', url, query });
    if (status !== 200) throw new Error(`Gmail answered with status ${status}.`);
    return JSON.parse(text);
  };
  const page = input.page_token === undefined ? {} : { pageToken: input.page_token };
  const list = await read(messages, { q: input.query, maxResults: String(input.max_results), ...page });
  const found: unknown[] = [];
  for (const { id, threadId } of Array.isArray(list.messages) ? list.messages.filter(Boolean) : []) {
    const query = { format: 'metadata', metadataHeaders: ['Subject', 'From', 'Date'] };
    const { snippet, payload } = await read(`${messages}/${id}`, query);
    // The sender chooses the case of the names.
    const header = (name: string) =>
      headersOf(payload).find((each) => String(each?.name).toLowerCase() === name)?.value ?? null;
    const [from, subject, date] = [header('from'), header('subject'), header('date')];
    found.push({ id, thread_id: threadId, from, subject, date, snippet: snippet ?? '' });
  }
  return {
    messages: found,
    estimate: list.resultSizeEstimate ?? null,
    next_page_token: list.nextPageToken ?? null,
  };
};

function headersOf(payload: { readonly headers?: ReadonlyArray<Header | null> } | null | undefined) {
  return Array.isArray(payload?.headers) ? payload.headers : [];
}
