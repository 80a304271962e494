import type { Handler } from '@quartermaster/plugin-kit';

interface Input {
  readonly owner: string;
  readonly repo: string;
  readonly path: string;
  readonly content: string;
  readonly message: string;
  readonly branch?: string;
}

interface Output {
  readonly path: string;
  readonly commit: string | null;
  readonly url: string | null;
}

/** This plugin needs code, because GitHub requires the content as base64, and the id of the content that it replaces. */
export const run: Handler<Input, Output> = async ({ owner, repo, path, content, message, branch }, context) => {
  const url = `https://api.github.com/repos/${owner}/${repo}/contents/${encodeURIComponent(path)}`;
  const headers = { Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28' };
  const query = branch === undefined ? {} : { ref: branch };
  const present = await context.fetch({ method: 'GET', url, headers, query });
  if (present.status !== 200 && present.status !== 404)
    throw new Error(`GitHub answered with status ${present.status}.`);
  const found = present.status === 404 ? {} : JSON.parse(present.text);
  if (Array.isArray(found)) context.reject('path is a folder; name a file.');
  const body = { message, content: Buffer.from(content).toString('base64'), branch, sha: found?.sha ?? undefined };
  const written = await context.fetch({ method: 'PUT', url, headers, body });
  if (written.status !== 200 && written.status !== 201)
    throw new Error(`GitHub answered with status ${written.status}.`);
  const { content: file, commit } = JSON.parse(written.text);
  return { path: file?.path ?? path, commit: commit?.sha ?? null, url: file?.html_url ?? null };
};
