import type { RequestTemplate } from '@quartermaster/plugin-kit';
import type { EgressRequest } from '../../../platform/outbound.ts';
import { isHeaderValue } from '../../egress/header-text.ts';
import { compileContent } from './content.ts';
import { namedPairs, type Styles, styleOf, styleText } from './styles.ts';
import { absent, compileValue, type Input, parameter, parseText, type Render } from './template.ts';

/** The request of one run, or the reason why its input cannot be sent. */
export type RenderedRequest = { readonly request: EgressRequest } | { readonly rejected: string };
export type RenderRequest = (input: Input) => RenderedRequest;

/**
 * Compiles a request template.
 * No parameter can change the host, the structure of the path or the names in the query.
 * @throws Error whose message names the member that cannot be used
 */
export function compileRequest(template: RequestTemplate): RenderRequest {
  const method = template.method ?? 'GET';
  const styles = template.styles ?? {};
  const url = compileUrl(template.url, styles.path);
  const query = Object.entries(template.query ?? {}).map(([name, value]) => [name, compileValue(value)] as const);
  const headers = Object.entries(template.headers ?? {}).map(([name, value]) => [name, compileValue(value)] as const);
  const cookies = Object.entries(template.cookies ?? {}).map(([name, value]) => [name, compileValue(value)] as const);
  const body = compileContent(template);
  return (input) => {
    const rendered = url(input);
    if ('rejected' in rendered) return rendered;
    const sent = renderHeaders(headers, input, styles.headers);
    if ('rejected' in sent) return sent;
    const cookie = renderCookies(cookies, input, styles.cookies);
    const content = body(input);
    if ('rejected' in content) return content;
    return {
      request: {
        method,
        url: rendered.url,
        query: query.flatMap(([name, render]) => namedPairs(name, render(input), styles.query)),
        headers: { ...content.headers, ...cookie, ...sent.headers },
        ...(content.body === undefined ? {} : { body: content.body }),
      },
    };
  };
}

type NamedRender = readonly [string, Render];

function renderCookies(cookies: readonly NamedRender[], input: Input, styles: Styles = {}): Record<string, string> {
  const sent = cookies.flatMap(([name, render]) => {
    const value = render(input);
    if (value === absent || value === null) return [];
    return [`${name}=${encodeURIComponent(styleText(value, styleOf(styles, name)).toWellFormed())}`];
  });
  return sent.length === 0 ? {} : { cookie: sent.join('; ') };
}

function renderHeaders(
  headers: readonly NamedRender[],
  input: Input,
  styles: Styles = {},
): { readonly headers: Record<string, string> } | { readonly rejected: string } {
  const sent: Record<string, string> = {};
  for (const [name, render] of headers) {
    const value = render(input);
    if (value === absent || value === null) continue;
    const text = styleText(value, styleOf(styles, name));
    if (!isHeaderValue(text)) {
      return { rejected: `a parameter holds a line break or a character that the header ${name} cannot carry` };
    }
    sent[name.toLowerCase()] = text;
  }
  return { headers: sent };
}

function compileUrl(
  template: string,
  styles: Styles = {},
): (input: Input) => { readonly url: string } | { readonly rejected: string } {
  const match = /^(https?:\/\/[^/?#{}\\@\s]+)(\/[^?#]*)?(\?[^#{}]*)?$/.exec(template);
  const [, origin, path = '/', search = ''] = match ?? [];
  if (origin === undefined || !URL.canParse(origin)) {
    throw new Error(
      'request.url must have a scheme, a host and a path, no fragment, and placeholders in the path only',
    );
  }
  const parts = parseText(path);
  return (input) => {
    let rendered = '';
    for (const part of parts) {
      if ('text' in part) {
        rendered += part.text;
        continue;
      }
      const value = parameter(input, part.name);
      if (value === absent || value === null) return { rejected: `input_params/${part.name}: needed in the path` };
      rendered += encodeURIComponent(styleText(value, styleOf(styles, part.name)).toWellFormed());
    }
    const rejected = judgePath(rendered, path);
    return rejected === null ? { url: `${origin}${rendered}${search}` } : { rejected };
  };
}

/**
 * Refuses empty and dot segments that come from parameters. An encoded value holds no slash, so nothing else can change the
 * path.
 */
function judgePath(rendered: string, template: string): string | null {
  const planned = template.split('/');
  const isWrong = rendered
    .split('/')
    .some((segment, index) => segment === '.' || segment === '..' || (segment === '' && planned[index] !== ''));
  return isWrong ? 'a parameter that stands in the path is empty or made of dots' : null;
}
