import MiniSearch from 'minisearch';
import type { Page } from '../../documentation.ts';

/** A section of a page: what stands below a heading. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

/** Indexes the sections of all pages. Takes about a third of a second, so it waits for the first question. */
export function createSearch(pages: readonly Page[]): (question: string) => readonly Section[] {
  const sections = pages.flatMap(sectionsOf);
  const index = new MiniSearch<Section>({
    fields: ['title', 'page', 'text'],
    searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(sections);
  const byId = new Map(sections.map((section) => [section.id, section]));
  return (question) =>
    index
      .search(question)
      .slice(0, 20)
      .flatMap(({ id }) => byId.get(String(id)) ?? []);
}

/** The id of a section is its address below `/docs/`. */
function sectionsOf({ path, title: page, html }: Page): readonly Section[] {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  const sections: { id: string; title: string; page: string; text: string }[] = [];
  for (const node of body.children) {
    if (/^H[1-6]$/.test(node.tagName)) {
      const id = node.tagName === 'H1' ? path : `${path}#${node.id}`;
      sections.push({ id, title: node.textContent ?? '', page, text: '' });
    } else {
      const last = sections.at(-1);
      if (last !== undefined) last.text += ` ${node.textContent}`;
    }
  }
  return sections;
}
