type Attributes = Readonly<Record<string, string>>;

/** The parts of a page that a control on it opens. A page hides them at first. */
export interface OpenedParts {
  /** Reads a piece of the page before it is parsed, because a control may stand behind its part. */
  learn(html: string): void;
  /** Whether a control names the element as the part that it shows and hides. */
  isControlled(attributes: Attributes): boolean;
  /** Whether a script, or a link to a part of the page, names the element or one of its classes. */
  isMentioned(attributes: Attributes): boolean;
}

const mostNames = 20_000;
const longestString = 100;

export function createOpenedParts(): OpenedParts {
  const controlled = new Set<string>();
  const mentioned = new Set<string>();

  function add(names: Set<string>, text: string): void {
    for (const name of text.split(/[^\w-]+/)) if (name !== '' && names.size < mostNames) names.add(name);
  }

  function learnTag(tag: string): void {
    const controls = /\saria-controls\s*=\s*(?:"([^"]*)|'([^']*)|([^\s"'<>]+))/i.exec(tag);
    // Menus, dialogs and lists of suggestions are no content.
    if (controls !== null && !/^<(?:input|textarea)\b|\saria-haspopup\b|\brole\s*=\s*["']?combobox/i.test(tag))
      add(controlled, controls[1] ?? controls[2] ?? controls[3] ?? '');
    for (const [, id = ''] of tag.matchAll(/["'=]#([\w-]+)/g)) add(mentioned, id);
    if (/\sonclick\b/i.test(tag)) add(mentioned, tag);
  }

  return {
    learn: (html) => {
      for (const [tag] of html.matchAll(/<[a-z][^<>]*/gi)) learnTag(tag);
      for (const script of html.split(/<script\b/i).slice(1)) {
        const [code = ''] = script.split(/<\/script/i, 1);
        const strings = code.split(/["'`]/).filter((text) => text.length <= longestString && !/[()=;]/.test(text));
        for (const text of strings) add(mentioned, text);
      }
    },
    isControlled: ({ id }) => id !== undefined && controlled.has(id),
    isMentioned: ({ id = '', class: classes = '' }) =>
      mentioned.has(id) || classes.split(/\s+/).some((name) => mentioned.has(name)),
  };
}
